/**
 * link-toxic: any toxic on any link for a while (LIBRARIES §4.2). The general tool; the named faults say more about themselves.
 *
 * Landed, for a toxic that loses data (timeout, limit_data, reset_peer): bytes entered the proxy and never left it. For one that only delays: the toxic was seen
 * on the link, exchanges of the lab's own over the link took as long as the toxic holds them up, every one of them, and steps of the protocol that use this link
 * were reached meanwhile (Toxiproxy counts the bytes of a connection when it ends, so it cannot tell what an open one carried). Where no step tells of the link's
 * use, its connections are ended once at the beginning and once at the end of the toxic, so that what they carried in between is counted, the lab's own left out.
 * A link nobody uses proves none of these.
 */
import { z } from 'zod';

import { ROLE_NAMES, type LinkName, type RoleName } from '../domain/roles.js';
import { STEPS, STEP_NAMES } from '../domain/steps.js';
import type { LinkCounters, LinkTarget, Targets, ToxicSpec } from '../facts/targets.js';
import { defineFault, type FaultClock, type FaultInHand, type FaultSurroundings } from './fault.js';
import { holdsLink } from './fault-holds.js';
import { beginLooks, effectInWords, effectOf, type EffectLooks } from './link-effect.js';
import { countedBytes, lostBytes, settledCounters, until } from './observation.js';
import { durationMs, linkOption, startTime, wholeNumber } from './option-values.js';

const TOXIC_TYPES = ['latency', 'bandwidth', 'timeout', 'limit_data', 'reset_peer', 'slow_close', 'slicer'] as const;
const LOSES_DATA: readonly ToxicSpec['type'][] = ['timeout', 'limit_data', 'reset_peer'];
/** What a type cannot do without, and what it may have besides; another type's option would do nothing. */
const TAKES = {
  latency: { needs: ['latency'], may: ['jitter'] },
  bandwidth: { needs: ['rate'], may: [] },
  timeout: { needs: [], may: ['timeout'] },
  limit_data: { needs: ['bytes'], may: [] },
  reset_peer: { needs: [], may: ['timeout'] },
  slow_close: { needs: ['delay'], may: [] },
  // Slices that follow each other at once are put together again on the way.
  slicer: { needs: ['size', 'delay'], may: [] },
} as const satisfies Record<(typeof TOXIC_TYPES)[number], { readonly needs: readonly AttributeName[]; readonly may: readonly AttributeName[] }>;
const ATTRIBUTES = ['latency', 'jitter', 'timeout', 'delay', 'rate', 'bytes', 'size'] as const;
type AttributeName = (typeof ATTRIBUTES)[number];
/** A connection that was cut is counted when both of its sides have noticed. */
const COUNTED_WITHIN_MS = 5_000;
/** Wider than that, no link of a sale is narrow. */
const RATE_MAX_KB = 10_000;
/** Longer than most of what passes on a link: it would slice nothing. */
const SLICE_MAX_BYTES = 16_384;

/** KB/s of a link that is narrow. */
export const narrowRate = wholeNumber(1, RATE_MAX_KB);

const schema = z
  .strictObject({
    t: startTime,
    s: durationMs('s').default(2_000),
    link: linkOption,
    type: z.enum(TOXIC_TYPES, { error: `is one of ${TOXIC_TYPES.join(' ')}` }),
    stream: z.enum(['upstream', 'downstream'], { error: 'is upstream or downstream (server to client)' }).default('downstream'),
    latency: durationMs('ms').optional(),
    jitter: durationMs('ms').optional(),
    timeout: durationMs('ms').optional(),
    delay: durationMs('ms').optional(),
    rate: narrowRate.optional(),
    bytes: wholeNumber(0, 1_000_000_000).optional(),
    size: wholeNumber(1, SLICE_MAX_BYTES).optional(),
  })
  .superRefine((options, context) => {
    const { type } = options;
    const needs: readonly AttributeName[] = TAKES[type].needs;
    const may: readonly AttributeName[] = TAKES[type].may;
    for (const needed of needs) if (options[needed] === undefined) context.addIssue({ code: 'custom', message: `type=${type} needs ${needed}=…` });
    for (const name of ATTRIBUTES) if (options[name] !== undefined && !needs.includes(name) && !may.includes(name)) context.addIssue({ code: 'custom', message: `type=${type} does nothing with ${name}=…` });
    const { latency = 1, jitter = 0, delay = 1 } = options;
    if (latency - jitter < 1 || delay < 1) context.addIssue({ code: 'custom', message: `type=${type} has to hold up by a millisecond at least` });
  });

/** A fault's id as Toxiproxy takes it. */
export function toxicName(id: string): string {
  return `lab-${id.replace(/[^a-z0-9]+/g, '-')}`;
}

function toxicOf(id: string, options: z.output<typeof schema>): ToxicSpec {
  const { latency, jitter, timeout, delay, rate, bytes, size } = options;
  const given: Record<ToxicSpec['type'], Record<string, number>> = {
    latency: { latency: latency ?? 0, jitter: jitter ?? 0 },
    bandwidth: { rate: rate ?? 0 },
    timeout: { timeout: timeout ?? 0 },
    limit_data: { bytes: bytes ?? 0 },
    reset_peer: { timeout: timeout ?? 0 },
    slow_close: { delay: delay ?? 0 },
    slicer: { average_size: size ?? 0, size_variation: 0, delay: (delay ?? 0) * 1000 },
  };
  return { name: toxicName(id), type: options.type, stream: options.stream, attributes: given[options.type] };
}

/** Steps that use the link, reached so far by the processes of its role. */
function stepsOn(targets: Targets, link: LinkName): number {
  const steps = STEP_NAMES.filter((name) => (STEPS[name].links as readonly LinkName[]).includes(link));
  const roles = ROLE_NAMES.filter((role) => link.startsWith(`${role}-`));
  return roles.flatMap((role) => targets.roles(role)).reduce((sum, target) => sum + steps.reduce((inner, step) => inner + (target.stepCounts()[step] ?? 0), 0), 0);
}

/** They come by again and again and reach a step only where they find something to do; using their links is what they do all the time. */
const COMING_BY: readonly RoleName[] = ['scanner', 'undertaker', 'reconciler', 'retention'];

/** Who uses the link comes by its steps as he does so. */
function stepsUse(link: LinkName): boolean {
  if (COMING_BY.some((role) => link.startsWith(`${role}-`))) return false;
  return STEP_NAMES.some((name) => (STEPS[name].links as readonly LinkName[]).includes(link));
}

/** Ends the connections of a link, which come back at once, and reads what had been counted by then. */
async function endConnections(link: LinkTarget, clock: FaultClock): Promise<LinkCounters> {
  await link.setEnabled(false);
  await link.setEnabled(true);
  return settledCounters(clock, link);
}

/** One toxic on one link for a while, with the proof described above. Shared with `slow-consumer`. */
export function toxicOnLink(linkNamed: LinkName, toxic: ToxicSpec, lastsMs: number, { targets, clock }: FaultSurroundings): FaultInHand {
  const link = targets.link(linkNamed);
  const loses = LOSES_DATA.includes(toxic.type);
  const byConnections = !loses && !stepsUse(linkNamed);
  const effect = effectOf(toxic);
  let looks: EffectLooks | null = null;
  let carried = 0;
  let before: LinkCounters | null = null;
  let seenArmed = false;
  let steps = 0;
  return {
    async inject(signal) {
      looks = effect === null ? null : await beginLooks(targets.witness, link, effect);
      // A connection that ends is counted once for what came in and once for what went out: what falls between the two would be taken for lost, or hide what is.
      before = loses ? await settledCounters(clock, link) : await link.counters();
      const endUs = clock.monoUs() + lastsMs * 1000;
      await link.addToxic(toxic);
      const stepsWhenArmed = stepsOn(targets, linkNamed);
      await looks?.look(() => clock.monoUs() < endUs && !signal.aborted);
      await looks?.end();
      const armedWith = byConnections ? await endConnections(link, clock) : null;
      await clock.wait((endUs - clock.monoUs()) / 1000, signal);
      steps = stepsOn(targets, linkNamed) - stepsWhenArmed;
      seenArmed = (await link.listToxics()).includes(toxic.name);
      if (armedWith !== null) carried = countedBytes(armedWith, await endConnections(link, clock));
    },
    async heal() {
      await looks?.end();
      await link.removeToxic(toxic.name);
      if (byConnections) await link.setEnabled(true);
      const left = await link.listToxics();
      return { healed: !left.includes(toxic.name), observed: `toxics left on ${linkNamed}: ${left.join(' ') || 'none'}` };
    },
    async prove() {
      const start = before;
      if (start === null) return { landed: false, observed: 'never armed', strikes: 0, hits: [], mayLose: null };
      let after = await link.counters();
      if (loses) {
        await until(clock, COUNTED_WITHIN_MS, 20, async () => {
          after = await link.counters();
          return lostBytes(start, after, toxic.stream) > 0;
        });
      }
      const lost = lostBytes(start, after, toxic.stream);
      const delays = looks === null || looks.seen();
      const landed = seenArmed && delays && (loses ? lost > 0 : byConnections ? carried > 0 : steps > 0);
      const observed = `${linkNamed}: toxic ${seenArmed ? 'seen armed' : 'NOT seen'}; ${looks === null ? '' : `${looks.observed}; `}${byConnections ? `${String(carried)} B carried` : `${String(steps)} protocol steps that use it`} meanwhile; ended connections carried ${String(countedBytes(start, after))} B, ${String(lost)} B ${toxic.stream} never left the proxy`;
      return { landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null };
    },
  };
}

export const linkToxic = defineFault({
  name: 'link-toxic',
  description: 'one toxic on one link for s seconds: latency, bandwidth, timeout, limit_data, reset_peer, slow_close, slicer',
  example: 'link-toxic@link=gateway-redis,type=latency,latency=200,t=1s,s=2',
  schema,
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsLink(options.link, options)],
  predict: (options) =>
    LOSES_DATA.includes(options.type)
      ? `bytes of ${options.link} enter the proxy ${options.stream} and never leave it`
      : `the toxic is seen on ${options.link}, ${effectInWords(toxicOf('', options))} there, and ${stepsUse(options.link) ? 'protocol steps that use the link are reached' : 'connections carry bytes over the link'} meanwhile`,
  begin: (options, surroundings) => toxicOnLink(options.link, toxicOf(surroundings.id, options), options.s, surroundings),
});
