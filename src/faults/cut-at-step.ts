/**
 * cut-at-step: the process waits at a protocol step until its link is cut, then goes on and loses exactly that call (CASES C27).
 * `downstream`: the server does it and the answer is lost. `upstream`: the request never arrives. Either way the client learns by a close.
 *
 * `both`: the link is closed and opened again while the process waits at the step, whether or not a call would have followed. Where none follows at once over the
 * link (`call-after-step.ts`), this is the only cut there is: what would be lost instead is somebody else's.
 *
 * Landed: for every strike a step line, and bytes of the link that entered the proxy and never left it; for `both`, bytes that were counted at the cut, so of
 * a connection that was open until then. A toxic hits every connection of a link, other processes of the role included; so it stays until the call has surely been
 * made, also when somebody else's bytes were lost before.
 */
import { z } from 'zod';

import { STEPS } from '../domain/steps.js';
import type { StepHit, ToxicSpec } from '../facts/targets.js';
import { callAfterStep } from './call-after-step.js';
import { defineFault } from './fault.js';
import { holdsLink } from './fault-holds.js';
import { countedBytes, lostBytes, until } from './observation.js';
import { linkOption, stepOption } from './option-values.js';
import { disarmAll, strikeHits, strikeOptions, strikePlans } from './step-strikes.js';

/** The call that follows a step starts at once; a longer silence means there was none. */
const CUT_BOUND_MS = 3_000;
/** From the word to go on to the call that follows: on a quiet machine a few milliseconds. */
const CALL_STARTS_WITHIN_MS = 50;
/** On a slow one everything takes longer, Toxiproxy's answers too. */
const AS_LONG_AS_ANSWERS = 3;

export const cutAtStep = defineFault({
  name: 'cut-at-step',
  description: 'at the Nth hit of a protocol step the next call over a link is lost: its answer (downstream), its request (upstream), or the connection itself (both)',
  example: 'cut-at-step@step=consumer.before-commit,link=consumer-postgres,stream=downstream,hit=3',
  schema: z
    .strictObject({
      step: stepOption,
      link: linkOption,
      stream: z.enum(['upstream', 'downstream', 'both'], { error: 'is upstream (the request is lost), downstream (its answer) or both (the connection)' }).default('downstream'),
      ...strikeOptions,
    })
    .superRefine(({ step, link, stream }, context) => {
      if (stream !== 'both' && callAfterStep(step, link) === null) context.addIssue({ code: 'custom', message: `no call over ${link} follows ${step} at once, so none can be lost: stream=both cuts the connection` });
    }),
  startsAfterMs: () => 0,
  strikesAsked: (options) => options.times,
  holds: (options) => [holdsLink(options.link, { t: 0 })],
  predict: (options) => `${String(options.times)} step lines of ${options.step}, and each time ${options.stream === 'both' ? `a connection of ${options.link} ends` : `${callAfterStep(options.step, options.link) ?? 'a call'} is lost: bytes of ${options.link} enter the proxy ${options.stream} and never leave it`}`,
  plans: (options, id, instances) => strikePlans(options, 'cut', id, instances),
  begin: (options, { id, targets, clock }) => {
    const link = targets.link(options.link);
    const { stream } = options;
    const toxic: ToxicSpec = { name: `lab-${id.replace(/[^a-z0-9]+/g, '-')}`, type: 'limit_data', stream: stream === 'both' ? 'downstream' : stream, attributes: { bytes: 0 } };
    const struck: { hit: StepHit; lost: number }[] = [];
    const waiting = () => strikeHits(targets, options.step, id).filter(({ hit }) => !struck.some((done) => done.hit === hit));
    const loseCall = async (direction: 'upstream' | 'downstream', goOn: () => void): Promise<number> => {
      const beganUs = clock.monoUs();
      const before = await link.counters();
      let lost = 0;
      await link.addToxic(toxic);
      try {
        goOn();
        const wentOnUs = clock.monoUs();
        const staysUs = Math.max(CALL_STARTS_WITHIN_MS * 1000, AS_LONG_AS_ANSWERS * (wentOnUs - beganUs));
        await until(clock, CUT_BOUND_MS, 10, async () => (lost = lostBytes(before, await link.counters(), direction)) > 0 && clock.monoUs() - wentOnUs >= staysUs);
      } finally {
        await link.removeToxic(toxic.name);
      }
      return lost;
    };
    const loseConnection = async (goOn: () => void): Promise<number> => {
      const before = await link.counters();
      let ended = 0;
      try {
        await link.setEnabled(false);
        await until(clock, CUT_BOUND_MS, 10, async () => (ended = countedBytes(before, await link.counters())) > 0);
      } finally {
        await link.setEnabled(true);
      }
      goOn();
      return ended;
    };
    return {
      async inject(signal) {
        while (struck.length < options.times && !signal.aborted) {
          const next = waiting()[0];
          if (next === undefined) {
            await clock.wait(10, signal);
            continue;
          }
          const goOn = (): void => {
            next.target.goOn(next.hit);
          };
          const lost = stream === 'both' ? await loseConnection(goOn) : await loseCall(stream, goOn);
          struck.push({ hit: next.hit, lost });
        }
      },
      async heal() {
        await link.removeToxic(toxic.name);
        await link.setEnabled(true);
        await disarmAll(targets, options.step, id);
        for (const { target, hit } of waiting()) target.goOn(hit);
        const left = await link.listToxics();
        const { role } = STEPS[options.step];
        const healthy = await until(clock, 15_000, 50, async () => (await Promise.all(targets.roles(role).map((target) => target.isHealthy()))).every(Boolean));
        return { healed: !left.includes(toxic.name) && healthy, observed: `plans disarmed; toxics left on ${options.link}: ${left.join(' ') || 'none'}; ${role} ${healthy ? 'healthy' : 'NOT healthy'}` };
      },
      prove() {
        const proven = struck.filter(({ lost }) => lost > 0);
        return Promise.resolve({
          landed: proven.length === options.times,
          observed: `${String(struck.length)} step lines, ${String(proven.length)} of ${String(options.times)} cuts ${stream === 'both' ? 'ended a connection' : 'lost bytes'} (${String(proven.reduce((sum, { lost }) => sum + lost, 0))} B)`,
          strikes: proven.length,
          hits: struck.map(({ hit }) => hit),
          mayLose: null,
        });
      },
    };
  },
});
