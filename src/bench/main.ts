/**
 * `npm run bench -- [name …]`: speed, measured side by side, never in a timed test. Exit 1 when a bar is missed, 254 for an unknown name. Needs an
 * otherwise idle machine.
 */
import { LabError } from '../facts/lab-error.js';
import { startLocalStack } from '../stack/local/start-local-stack.js';
import type { RunningStack } from '../stack/running-stack.js';
import { compare, type Comparison } from './comparison.js';
import { reserveComparison } from './reserve-redis.js';

const PAIRS = 5;

const BENCHES: Readonly<Record<string, (stack: RunningStack) => Comparison>> = {
  'reserve-redis': (stack) => reserveComparison(stack, 'success'),
  'reserve-soldout': (stack) => reserveComparison(stack, 'sold-out'),
};

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
  if (unknown.length > 0) {
    process.stderr.write(`bench: there is no ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`);
    return 254;
  }
  const stack = await startLocalStack({ lanes: 1, onNote: () => undefined });
  try {
    let reached = true;
    for (const [name, make] of Object.entries(BENCHES)) {
      if (names.length > 0 && !names.includes(name)) continue;
      reached = (await compare(make(stack), PAIRS, (line) => process.stdout.write(`${line}\n`))) && reached;
    }
    return reached ? 0 : 1;
  } finally {
    await stack.stop();
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (cause) {
  process.stderr.write(`bench: ${cause instanceof LabError ? `${cause.message}\n  next: ${cause.nextStep}` : String(cause)}\n`);
  process.exitCode = 2;
}
