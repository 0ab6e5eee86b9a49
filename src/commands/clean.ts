/** `seckill-lab clean`: removes from the Docker engine what labs have left, known by the lab's own labels, and tells what. */
import { ExitCode } from '../exit-codes.js';
import type { CommandIo } from './command-io.js';
import { reportError } from './report-error.js';

export interface CleanOptions {
  /** Also stacks whose lab still lives, and those of other machines on this engine. */
  readonly force?: boolean;
}

/** 0 when nothing is left that it may remove; 2 when something could not be removed or no engine answers. */
export async function runClean(options: CleanOptions, io: CommandIo): Promise<number> {
  try {
    const [{ reachEngine }, { labelledThings, removeStack }] = await Promise.all([import('../stack/containers/engine.js'), import('../stack/containers/sweep-engine.js')]);
    const { docker } = await reachEngine();
    const things = await labelledThings(docker, null);
    const kept = options.force === true ? [] : things.filter((thing) => thing.owner !== 'dead');
    const stacks = new Set(things.filter((thing) => !kept.includes(thing)).map((thing) => thing.stackId));
    const sweeps = await Promise.all([...stacks].map((stackId) => removeStack(docker, stackId, false)));
    const problems = sweeps.flatMap((sweep) => sweep.problems);
    for (const { kind, name } of sweeps.flatMap((sweep) => sweep.removed)) io.stdout(`removed ${kind} ${name}\n`);
    for (const { kind, name, owner } of kept) io.stdout(`left    ${kind} ${name}: ${owner === 'alive' ? 'its lab is running' : 'its lab is on another machine or in another container'} (--force removes it)\n`);
    for (const problem of problems) io.stderr(`clean: ${problem}\n`);
    if (things.length === 0) io.stdout('nothing of seckill-lab is on this engine\n');
    return problems.length === 0 ? ExitCode.green : ExitCode.unknown;
  } catch (error) {
    return reportError(error, io);
  }
}
