/**
 * stop-scanner: nobody looks after reservations whose hand-off was not confirmed (paper `000` §13.4: 停止扫描器).
 *
 * Landed: the scanner is seen stopped at both ends and reaches no step in between, and the gauge that the alert watches, as the projector shows it, passes
 * the alert's bound meanwhile.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { holdsRole } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, startTime } from './option-values.js';

const HEALTHY_BOUND_MS = 15_000;
const LOOK_EVERY_MS = 200;
/** Bound of the alert on old pending reservations (`ops/alerts`), seconds. */
const ALERT_BOUND_S = 5;
const GAUGE = 'reservation_oldest_pending_age';

export const stopScanner = defineFault({
  name: 'stop-scanner',
  description: 'the scanner is stopped for s seconds, or until the alert on old pending reservations has fired and a second has passed',
  example: 'stop-scanner@t=2s,s=15',
  schema: z.strictObject({ t: startTime, s: durationMs('s').default(15_000) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsRole('scanner-1', options)],
  predict: () => `the scanner is seen stopped at both ends and reaches no step, and ${GAUGE} passes ${String(ALERT_BOUND_S)} s at the projector`,
  begin: (options, { targets, clock }) => {
    const scanners = targets.roles('scanner');
    const steps = (): number => scanners.reduce((sum, scanner) => sum + Object.values(scanner.stepCounts()).reduce((inner, count) => inner + count, 0), 0);
    const seenStopped: boolean[] = [];
    let moved = 0;
    let oldestS = 0;
    const look = async (): Promise<boolean> => (await Promise.all(scanners.map((scanner) => scanner.isPaused()))).every(Boolean);
    const readGauge = async (): Promise<void> => {
      for (const projector of targets.roles('projector')) {
        for (const [series, value] of Object.entries(await projector.metrics())) if (series.startsWith(GAUGE)) oldestS = Math.max(oldestS, value);
      }
    };
    return {
      async inject(signal) {
        if (scanners.length === 0) return;
        const endUs = clock.monoUs() + options.s * 1000;
        await Promise.all(scanners.map((scanner) => scanner.pause()));
        seenStopped.push(await until(clock, 1_000, 5, look));
        const before = steps();
        await until(clock, (endUs - clock.monoUs()) / 1000, LOOK_EVERY_MS, async () => {
          await readGauge();
          return oldestS > ALERT_BOUND_S;
        }, signal);
        seenStopped.push(await look());
        moved = steps() - before;
      },
      async heal() {
        await Promise.all(scanners.map((scanner) => scanner.resume()));
        const runs = await until(clock, 1_000, 5, async () => !(await Promise.all(scanners.map((scanner) => scanner.isPaused()))).some(Boolean));
        const healthy = await until(clock, HEALTHY_BOUND_MS, 50, async () => (await Promise.all(scanners.map((scanner) => scanner.isHealthy()))).every(Boolean));
        return { healed: runs && healthy, observed: `the scanner ${runs ? 'runs' : 'is STILL STOPPED'} and is ${healthy ? 'healthy' : 'NOT healthy'}` };
      },
      prove() {
        const landed = seenStopped.length === 2 && seenStopped.every(Boolean) && moved === 0 && oldestS > ALERT_BOUND_S;
        const observed = `${String(scanners.length)} scanners seen stopped at ${String(seenStopped.filter(Boolean).length)} of 2 looks, ${String(moved)} steps in between; ${GAUGE} rose to ${String(oldestS)} s`;
        return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null });
      },
    };
  },
});
