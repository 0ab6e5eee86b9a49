/** Things at the wrong moment or in the wrong order: an answer before what it tells, commits that are gone, doubled or swapped, an order ended before its time. */
import { ANSWER_CODES_BY_NUMBER } from '../../domain/reason-codes.js';
import { wallToMonoUs } from '../../facts/timeline.js';
import { anyOf, someOf, type Draft, type HistoryMutant, type Random } from './history-mutant.js';

const QUEUED = ANSWER_CODES_BY_NUMBER.indexOf('QUEUED');

/** Past the bound of the clocks, microseconds: the least that can be told, a millisecond, a second. */
const TOO_EARLY = [1, 1_000, 1_000_000] as const;

/** A telling of a live order, and the monotonic moment at which its first commit was. */
function toldOrder(draft: Draft, random: Random): { readonly telling: Draft['history']['tellings'][number]; readonly committedUs: number } | null {
  const commits = new Map<string, number>();
  for (const { committedAtUs, changes } of draft.commitLog.transactions) {
    for (const { table, kind, row } of changes) {
      const orderId = row['order_id'];
      if (table === 'orders' && kind === 'insert' && typeof orderId === 'string' && !commits.has(orderId)) commits.set(orderId, committedAtUs);
    }
  }
  const telling = anyOf(draft.history.tellings.filter((each) => each.code === 'ORDERED' && each.orderId !== null && commits.has(each.orderId)), random);
  const committedAtUs = commits.get(telling?.orderId ?? '');
  return telling === null || committedAtUs === undefined ? null : { telling, committedUs: wallToMonoUs(draft.run.clock, committedAtUs) };
}

function commitsOfOneReservation(draft: Draft, random: Random): readonly [number, number] | null {
  const places = new Map<string, number[]>();
  draft.commitLog.transactions.forEach(({ changes }, at) => {
    const mine = new Set(changes.flatMap(({ table, row }) => (table === 'inventory_reservation' && typeof row['reservation_id'] === 'string' ? [row['reservation_id']] : [])));
    for (const id of mine) places.set(id, [...(places.get(id) ?? []), at]);
  });
  const [first, second] = anyOf([...places.values()].filter((found) => found.length >= 2), random) ?? [];
  return first === undefined || second === undefined ? null : [first, second];
}

type Commit = Draft['commitLog']['transactions'][number];
/** Only the relay's own marks on its rows. */
const isRelayMark = ({ changes }: Commit): boolean => changes.every(({ table, kind }) => table === 'event_outbox' && kind === 'update');

function dropCommits(wanted: (commit: Commit) => boolean): HistoryMutant['apply'] {
  return (draft, random, magnitude) => {
    const { transactions } = draft.commitLog;
    const gone = someOf(transactions.filter(wanted), magnitude, random);
    for (const commit of gone ?? []) transactions.splice(transactions.indexOf(commit), 1);
    return gone !== null;
  };
}

export const TIME_MUTANTS: readonly HistoryMutant[] = [
  {
    name: 'tell-order-early', description: 'A client was told of an order before it was committed.', unit: 'us past the bound of the clocks', magnitudes: TOO_EARLY, equivalent: null,
    apply(draft, random, magnitude) {
      const told = toldOrder(draft, random);
      if (told === null) return false;
      told.telling.answeredUs = told.committedUs - draft.run.clock.boundUs - magnitude;
      told.telling.askedUs = told.telling.answeredUs - 1;
      return true;
    },
  },
  {
    name: 'tell-queued-early', description: 'A client was told that his request is queued before the broker had its message, and before anything was committed.', unit: 'us past the bound of the clocks', magnitudes: TOO_EARLY, equivalent: null,
    apply(draft, random, magnitude) {
      const { columns } = draft.history;
      const firstMs = new Map<string, number>();
      for (const { reservationId, appendedAtMs } of draft.kafka.orders) {
        const id = reservationId.replaceAll('-', '');
        firstMs.set(id, Math.min(appendedAtMs, firstMs.get(id) ?? Infinity));
      }
      const idAt = (index: number): string => Buffer.from(columns.reservation.subarray(index * 16, (index + 1) * 16)).toString('hex');
      const index = anyOf(Array.from(columns.answerCode.keys()).filter((each) => columns.answerCode[each] === QUEUED && firstMs.has(idAt(each))), random);
      if (index === null) return false;
      columns.answeredUs[index] = wallToMonoUs(draft.run.clock, (firstMs.get(idAt(index)) ?? 0) * 1_000) - draft.run.clock.boundUs - magnitude;
      columns.sentUs[index] = Math.min(columns.sentUs[index] ?? 0, (columns.answeredUs[index] ?? 0) - 1);
      return true;
    },
  },
  {
    name: 'tell-order-within-bound', description: 'A client was told of an order before its commit, by less than two clocks can be told apart.', unit: 'us inside the bound of the clocks', magnitudes: [1],
    equivalent: 'what lies inside the bound of the clocks cannot be told from the right order',
    apply(draft, random, magnitude) {
      const told = toldOrder(draft, random);
      if (told === null) return false;
      told.telling.answeredUs = told.committedUs - draft.run.clock.boundUs + magnitude;
      return true;
    },
  },
  {
    name: 'drop-commit', description: 'A commit is gone from the log.', unit: 'commits', magnitudes: [1, 2, 5], equivalent: null, apply: dropCommits((commit) => !isRelayMark(commit)),
  },
  {
    name: 'drop-relay-mark', description: 'A commit in which the relay only leased or marked its rows is gone from the log.', unit: 'commits', magnitudes: [1, 2],
    equivalent: 'whether an event was sent is judged by the topic, not by what the relay noted about it', apply: dropCommits(isRelayMark),
  },
  {
    name: 'double-commit', description: 'A commit stands in the log twice.', unit: 'commits', magnitudes: [1], equivalent: null,
    apply(draft, random) {
      const { transactions } = draft.commitLog;
      const commit = anyOf(transactions.filter((each) => !isRelayMark(each)), random);
      if (commit === null) return false;
      transactions.splice(transactions.indexOf(commit), 0, structuredClone(commit));
      return true;
    },
  },
  {
    name: 'swap-commits', description: 'Two commits of one reservation stand in the wrong order.', unit: 'pairs', magnitudes: [1], equivalent: null,
    apply(draft, random) {
      const { transactions } = draft.commitLog;
      const pair = commitsOfOneReservation(draft, random);
      if (pair === null) return false;
      const [first, second] = [transactions[pair[0]], transactions[pair[1]]];
      if (first === undefined || second === undefined) return false;
      [transactions[pair[0]], transactions[pair[1]]] = [second, first];
      return true;
    },
  },
  {
    name: 'expire-early', description: 'An unpaid order was closed for its time before its time had come.', unit: 'us', magnitudes: TOO_EARLY, equivalent: null,
    apply(draft, random, magnitude) {
      const order = anyOf(draft.postgres.orders.filter((each) => each.cancelReason === 'PAY_TIMEOUT' && each.cancelledAtUs !== null), random);
      if (order?.cancelledAtUs === undefined || order.cancelledAtUs === null) return false;
      order.expireAtUs = order.cancelledAtUs + magnitude;
      return true;
    },
  },
  {
    name: 'answer-a-millisecond-later', description: 'An answer took a millisecond more.', unit: 'us', magnitudes: [1_000], equivalent: 'a millisecond more or less changes no promise',
    apply(draft, random, magnitude) {
      const { columns } = draft.history;
      const index = anyOf(Array.from(columns.answeredUs.keys()).filter((each) => !Number.isNaN(columns.answeredUs[each] ?? NaN)), random);
      if (index === null) return false;
      columns.answeredUs[index] = (columns.answeredUs[index] ?? 0) + magnitude;
      return true;
    },
  },
];
