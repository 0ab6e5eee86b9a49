/**
 * A verdict in words and figures, for every face that shows one: the summary file, the terminal, the JUnit messages. Pure text without
 * layout, so that the same number is never written in two ways.
 */
import type { Latencies, RunFigures, RunOutcome, RunVerdict, ServiceLevelVerdict, ShownVerdict, WitnessOfViolation } from './verdict.js';

/** `12,345`; `–` when the evidence is missing. Only whole numbers get separators. */
export function countInWords(count: number | null): string {
  if (count === null) return '–';
  return Number.isInteger(count) ? count.toString().replace(/\B(?=(\d{3})+$)/g, ',') : count.toString();
}

/** `870 µs`, `12.3 ms`, `4.56 s`; `–` for null. */
export function microsecondsInWords(us: number | null): string {
  if (us === null) return '–';
  if (us < 1000) return `${us.toFixed(0)} µs`;
  if (us < 1_000_000) return `${(us / 1000).toFixed(us < 10_000 ? 2 : 1)} ms`;
  return `${(us / 1_000_000).toFixed(2)} s`;
}

export function millisecondsInWords(ms: number | null): string {
  return microsecondsInWords(ms === null ? null : ms * 1000);
}

/** `99.95 %`, rounded down: 100.00 % means all of them. */
export function shareInWords(share: number): string {
  // The small term undoes binary fractions such as 0.9995 × 10,000 = 9,994.999….
  return `${(Math.floor(share * 10_000 + 1e-6) / 100).toFixed(2)} %`;
}

const OUTCOMES: Readonly<Record<RunOutcome, string>> = {
  green: 'GREEN',
  violated: 'VIOLATED',
  unknown: 'UNKNOWN',
  void: 'VOID',
  'service-level-missed': 'SERVICE LEVEL MISSED',
};

export function outcomeInWords(outcome: RunOutcome): string {
  return OUTCOMES[outcome];
}

/** All invariants hold and the load was honest. The speed of a run that oversold, or that was never really offered, is not a result, and a figure once printed gets quoted. */
function speedIsTold(outcome: RunOutcome): boolean {
  return outcome === 'green' || outcome === 'service-level-missed';
}

/** A service level of a run: what was measured against what was promised, `12.3 ms, promised ≤ 250 ms`, `99.95 %, promised ≥ 99.00 %`; `–` for what is not told. */
export function serviceLevelInWords({ outcome }: Pick<RunVerdict, 'outcome'>, level: ServiceLevelVerdict): string {
  const write = level.unit === 'ms' ? millisecondsInWords : (share: number | null): string => (share === null ? '–' : shareInWords(share));
  return `${write(speedIsTold(outcome) ? level.measured : null)}, promised ${level.unit === 'ms' ? '≤' : '≥'} ${write(level.bound)}`;
}

/** `1,012 of at least 1,000`, `0 of at most 5`. */
export function shownInWords({ seen, atLeast, atMost }: ShownVerdict): string {
  const bounds = [...(atLeast > 0 || atMost === undefined ? [`at least ${countInWords(atLeast)}`] : []), ...(atMost === undefined ? [] : [`at most ${countInWords(atMost)}`])];
  return `${countInWords(seen)} of ${bounds.join(' and ')}`;
}

export function latenciesInWords(latencies: Latencies): string {
  const { p50Us, p99Us, p999Us, maxUs, count, never } = latencies;
  const write = (us: number | null): string => (us === null ? 'never' : microsecondsInWords(us));
  return `p50 ${write(p50Us)} · p99 ${write(p99Us)} · p99.9 ${write(p999Us)} · max ${write(maxUs)} (${countInWords(count)}${never === 0 ? '' : `, ${countInWords(never)} of them never`})`;
}

const TRANSPORTS: Readonly<Record<Exclude<RunFigures['transport'], 'http'>, string>> = {
  edge: 'edge: batches of many customers per connection',
  inproc: 'inproc: the gateway called in the generator, no sockets',
};

/** Label and value of each count. Refusals are listed by code, most frequent first. */
export function countsInWords(figures: RunFigures): readonly (readonly [string, string])[] {
  const rows: (readonly [string, string])[] = [
    // What real clients do is not worth a row.
    ...(figures.transport === 'http' ? [] : [['transport', TRANSPORTS[figures.transport]] as const]),
    ['stock', countInWords(figures.stock)],
    ['arrivals scheduled', countInWords(figures.offered)],
    ['arrivals issued', countInWords(figures.issued)],
    ['answers received', countInWords(figures.decided)],
    ['requests accepted', countInWords(figures.accepted)],
    ['told sold out', countInWords(figures.soldOut)],
  ];
  const refusals = Object.entries(figures.refusedByCode).sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
  for (const [code, count] of refusals) rows.push([`refused ${code}`, countInWords(count)]);
  rows.push(['orders in PostgreSQL', countInWords(figures.orders)], ['messages in the topic', countInWords(figures.topicMessages)]);
  rows.push(['duplicates among them', countInWords(figures.topicDuplicates)]);
  const lives: readonly (readonly [string, number | null])[] = [
    ['orders paid', figures.paid], ['orders ended and released', figures.released], ['refunds', figures.refunds], ['payments that fit no order', figures.unmatchedPayments],
    ['dead letters', figures.deadLetters], ['waiting for a human', figures.waitingForHumans],
  ];
  // In most runs nobody pays: a row of zeros for each would hide what happened.
  for (const [label, count] of lives) if (count !== null && count > 0) rows.push([label, countInWords(count)]);
  if (figures.excused > 0) rows.push(['losses excused by a proven fault', countInWords(figures.excused)]);
  return rows;
}

/** Layer, what passed, what it kept away; in the order in which requests meet the layers. */
export function funnelInWords({ funnel }: RunFigures): readonly (readonly [string, string, string])[] {
  const layers = [...new Set(funnel.counts.map((entry) => entry.layer))];
  const sum = (layer: string, refused: boolean): number =>
    funnel.counts.filter((entry) => entry.layer === layer && (entry.outcome !== 'passed') === refused).reduce((total, entry) => total + entry.count, 0);
  return layers.map((layer) => [layer, countInWords(sum(layer, false)), countInWords(sum(layer, true))]);
}

/**
 * The gateways' counts against the clients': every arrival that was answered was malformed, or known as a repeat, or came to the first layer, and what a layer let pass
 * came to the next one. null: there are no counts, or none that are whole.
 */
export function funnelSum(figures: RunFigures): { readonly text: string; readonly addsUp: boolean } | null {
  const { funnel: { counts, restarted }, decided, issued, refusedByCode } = figures;
  if (counts.length === 0 || decided === null || issued === null || restarted === null || restarted.length > 0) return null;
  const layers = [...new Set(counts.map((entry) => entry.layer))].filter((layer) => layer !== 'known');
  const sum = (layer: string, outcomes: readonly string[]): number => counts.filter((entry) => entry.layer === layer && outcomes.includes(entry.outcome)).reduce((total, entry) => total + entry.count, 0);
  const [known, reached, passed] = [sum('known', ['passed']), (layer: string): number => sum(layer, ['passed', 'refused']), (layer: string): number => sum(layer, ['passed'])];
  const [first] = layers;
  const counted = known + (first === undefined ? 0 : reached(first));
  const before = (refusedByCode['INVALID'] ?? 0) + (refusedByCode['NOT_FOUND'] ?? 0);
  // A request without an answer may have come to the gateway or not.
  const [least, most] = [decided - before, issued - before];
  const broken = layers.slice(1).find((layer, index) => reached(layer) !== passed(layers[index] ?? ''));
  const addsUp = counted >= least && counted <= most && broken === undefined;
  const told = `${countInWords(counted)} requests came to the funnel (${countInWords(known)} of them known repeats); the clients count ${least === most ? countInWords(least) : `${countInWords(least)} to ${countInWords(most)}`}`;
  if (addsUp) return { text: `It adds up: ${told}.`, addsUp };
  return { text: `It does NOT add up: ${told}${broken === undefined ? '' : `; what came to ${broken} is not what was let pass before it`}.`, addsUp };
}

/** What the counts of the funnel leave out; null: they are whole. */
export function funnelCaveat({ funnel }: RunFigures): string | null {
  if (funnel.counts.length === 0) return null;
  if (funnel.restarted === null) return 'Nobody can tell whether a gateway was started again: counts of an earlier life would be missing.';
  if (funnel.restarted.length === 0) return null;
  return `Started again meanwhile: ${funnel.restarted.join(', ')}. Counts begin at zero with each start, so what came before is missing.`;
}

/** Label and value of each speed; empty where no speed is told. */
export function speedsInWords(verdict: RunVerdict): readonly (readonly [string, string])[] {
  if (!speedIsTold(verdict.outcome)) return [];
  const { latencyFromIntended, winnersLatency, reservationToOrder, recoveryMs, cost } = verdict.figures;
  const rows: (readonly [string, string])[] = [];
  if (latencyFromIntended !== null) rows.push(['answer, from the intended time', latenciesInWords(latencyFromIntended)]);
  if (winnersLatency !== null) rows.push(['answer to winners', latenciesInWords(winnersLatency)]);
  if (reservationToOrder !== null) rows.push(['reservation to order', latenciesInWords(reservationToOrder)]);
  if (recoveryMs !== null) rows.push(['recovery after the last heal', millisecondsInWords(recoveryMs)]);
  if (cost.soldOutKnownMs !== null) rows.push(['sold out, known to a gateway after', millisecondsInWords(cost.soldOutKnownMs)]);
  rows.push(...costInWords(verdict.figures));
  return rows;
}

/** Processor time of the storm per arrival, largest first, and what the host took away. */
function costInWords({ cost: { cpuSeconds, stealSeconds, reachedRedis }, issued }: RunFigures): readonly (readonly [string, string])[] {
  const rows: (readonly [string, string])[] = [];
  if (reachedRedis !== null && issued !== null && issued > 0) rows.push(['requests that reached Redis', `${countInWords(reachedRedis)} (${((100 * reachedRedis) / issued).toFixed(2)} % of the arrivals)`]);
  if (issued === null || issued === 0 || Object.keys(cpuSeconds).length === 0) return rows;
  const each = Object.entries(cpuSeconds).sort(([, a], [, b]) => b - a).map(([name, seconds]) => `${name} ${((seconds * 1e6) / issued).toFixed(2)}`);
  const all = Object.values(cpuSeconds).reduce((sum, seconds) => sum + seconds, 0);
  rows.push(['CPU, µs per arrival', `${((all * 1e6) / issued).toFixed(2)} in all: ${each.join(', ')}`]);
  if (stealSeconds !== null) rows.push(['taken away by the host', `${stealSeconds.toFixed(2)} s of CPU`]);
  return rows;
}

/** Time, source, text: one line each, whatever a text holds, in the order given. */
export function biographyInWords(witness: WitnessOfViolation): readonly string[] {
  return witness.biography.map((line) => `${(line.at ?? '–').padEnd(27)} ${line.source.padEnd(10)} ${line.text.replace(/\s*[\r\n]+\s*/g, ' ')}`);
}

/** The witness that a reader should see first: of the first violated invariant, its worst, else its first. */
export function leadingWitness(verdict: RunVerdict): { readonly invariant: string; readonly witness: WitnessOfViolation } | null {
  for (const judge of verdict.invariants) {
    const witness = judge.worst ?? judge.first;
    if (judge.outcome === 'violated' && witness !== null) return { invariant: judge.name, witness };
  }
  return null;
}
