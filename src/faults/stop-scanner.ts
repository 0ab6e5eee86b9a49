/**
 * stop-scanner: nobody looks after reservations whose hand-off was not confirmed (paper `000` §13.4: 停止扫描器).
 *
 * Landed: the scanner is seen stopped at both ends and reaches no step in between, and the alert on old pending reservations fires meanwhile: at every look for as long
 * as its rule asks, the gauge as the projector shows it was above the rule's bound.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { holdsRole } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, startTime } from './option-values.js';

const HEALTHY_BOUND_MS = 15_000;
const LOOK_EVERY_MS = 200;
/** The rule of `ops/alerts.yml` on old pending reservations; the test beside this file fails when it says something else. */
export const PENDING_ALERT = { alert: 'ReservationsLeftPending', gauge: 'reservation_oldest_pending_age', aboveS: 5, forMs: 10_000 } as const;

export const stopScanner = defineFault({
  name: 'stop-scanner',
  description: 'the scanner is stopped for s seconds, or at most: until the alert on old pending reservations has fired',
  example: 'stop-scanner@t=2s,s=25',
  schema: z.strictObject({ t: startTime, s: durationMs('s').default(25_000) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsRole('scanner-1', options)],
  predict: () => `the scanner is seen stopped at both ends and reaches no step, and ${PENDING_ALERT.gauge} stays above ${String(PENDING_ALERT.aboveS)} s at the projector for ${String(PENDING_ALERT.forMs / 1_000)} s, so that ${PENDING_ALERT.alert} fires`,
  begin: (options, { targets, clock }) => {
    const scanners = targets.roles('scanner');
    const steps = (): number => scanners.reduce((sum, scanner) => sum + Object.values(scanner.stepCounts()).reduce((inner, count) => inner + count, 0), 0);
    const seenStopped: boolean[] = [];
    let moved = 0;
    let oldestS = 0;
    /** null: not above the bound when last looked. */
    let aboveSinceUs: number | null = null;
    let fired = false;
    const look = async (): Promise<boolean> => (await Promise.all(scanners.map((scanner) => scanner.isPaused()))).every(Boolean);
    /** As a scrape and an evaluation of the rule. A projector that shows nothing starts the wait again. */
    const evaluateAlert = async (): Promise<boolean> => {
      let shownS = 0;
      for (const projector of targets.roles('projector')) {
        for (const [series, value] of Object.entries(await projector.metrics())) if (series.startsWith(PENDING_ALERT.gauge)) shownS = Math.max(shownS, value);
      }
      oldestS = Math.max(oldestS, shownS);
      aboveSinceUs = shownS > PENDING_ALERT.aboveS ? (aboveSinceUs ?? clock.monoUs()) : null;
      fired ||= aboveSinceUs !== null && clock.monoUs() - aboveSinceUs >= PENDING_ALERT.forMs * 1_000;
      return fired;
    };
    return {
      async inject(signal) {
        if (scanners.length === 0) return;
        const endUs = clock.monoUs() + options.s * 1000;
        await Promise.all(scanners.map((scanner) => scanner.pause()));
        seenStopped.push(await until(clock, 1_000, 5, look));
        const before = steps();
        await until(clock, (endUs - clock.monoUs()) / 1000, LOOK_EVERY_MS, evaluateAlert, signal);
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
        const landed = seenStopped.length === 2 && seenStopped.every(Boolean) && moved === 0 && fired;
        const observed = `${String(scanners.length)} scanners seen stopped at ${String(seenStopped.filter(Boolean).length)} of 2 looks, ${String(moved)} steps in between; ${PENDING_ALERT.gauge} rose to ${String(oldestS)} s, ${PENDING_ALERT.alert} ${fired ? 'fired' : 'DID NOT FIRE'}`;
        return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null });
      },
    };
  },
});
