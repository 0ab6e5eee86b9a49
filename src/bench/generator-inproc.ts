/** `generator-inproc`: 300,000 arrivals a second for ten seconds from one thread, each handed to a gateway in the same process and recorded. */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { namespaceOf } from '../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../domain/role-config.js';
import { monoNowUs } from '../load/mono-clock.js';
import { BARS } from './bars.js';
import { tryAll, type Bench } from './bench.js';
import { withOwnStorm } from './own-generator.js';
import { cpuNanoseconds } from './process-cpu.js';

const RATE = 300_000;
const DURATION_MS = 10_000;
const NOWHERE = { host: '127.0.0.1', port: 0 } as const;

/** The gateway of this bench asks for nothing of it. */
const CONFIG: RoleConfig = {
  role: 'gateway', instance: 'gateway-1', namespace: namespaceOf('bench'), addresses: { redis: NOWHERE, kafka: NOWHERE, postgres: { ...NOWHERE, user: '', password: '' } }, listen: NOWHERE,
  activityId: '10001', skuIds: ['20001'], strategies: { consumer: 'batch:500', allocator: 'token' }, tuning: DEFAULT_TUNING,
};

function measure(): Promise<readonly number[]> {
  const inproc = { modulePath: fileURLToPath(new URL('./inproc-sink.js', import.meta.url)), config: CONFIG };
  return withOwnStorm({ ratePerSecond: RATE, durationMs: DURATION_MS, connections: 1, target: null, inproc }, async ({ pid, startUs, done }) => {
    await delay((startUs - monoNowUs()) / 1_000);
    const before = cpuNanoseconds(pid);
    await delay(DURATION_MS);
    const cores = (cpuNanoseconds(pid) - before) / 1e6 / DURATION_MS;
    const facts = await done;
    return [(100 * facts.issued) / facts.scheduled, facts.latenessP99Us / 1_000, 100 * cores];
  });
}

export const generatorInprocBench: Bench = {
  name: 'generator-inproc',
  run: (tools) =>
    tryAll(tools, {
      name: 'generator-inproc, 300,000 arrivals a second for 10 s',
      figures: [
        { label: '% issued', bound: BARS.inprocIssuedPercent },
        { label: 'ms lateness p99', bound: BARS.inprocLatenessMs },
        { label: '% of a core', bound: BARS.inprocCorePercent },
      ],
      measure,
    }),
};
