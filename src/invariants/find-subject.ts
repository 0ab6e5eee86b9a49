/** Whose id is this? A reader has one id in his hand and need not know which store made it. */
import { requestIdAt, userIdAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { identityOf, rootOf } from './identity.js';
import { kafkaOf, planOf, postgresOf, redisOf } from './indexes.js';
import type { Subject } from './story.js';

export const SUBJECT_KINDS = ['reservation', 'request', 'user', 'order', 'message', 'token'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

export function subjectOf(kind: SubjectKind, id: string): Subject {
  return { [`${kind}Id`]: id };
}

/** All kinds under which the facts know the id; empty: none does. An id can be of several kinds, as numbers are. */
export function kindsOfId(facts: Facts, id: string): readonly SubjectKind[] {
  const { orders, reservations, tokens, inbox } = postgresOf(facts);
  const records = [...redisOf(facts).records, ...kafkaOf(facts).orders];
  const known: Readonly<Record<SubjectKind, () => boolean>> = {
    reservation: () => [...reservations, ...records].some((row) => row.reservationId === id) || isTold(facts, { reservationId: id }),
    request: () => rootOf(facts, id) !== null || records.some((row) => row.requestId === id),
    user: () => [...reservations, ...records].some((row) => row.userId === id) || isAUserOfThePlan(facts, id),
    order: () => orders.some((row) => row.orderId === id) || isTold(facts, { orderId: id }),
    message: () => records.some((row) => row.messageId === id) || inbox.some((row) => row.messageId === id),
    token: () => tokens.some((row) => row.tokenId === id),
  };
  return SUBJECT_KINDS.filter((kind) => known[kind]());
}

/** A client heard of it, though no store may know it any more. */
function isTold(facts: Facts, subject: Subject): boolean {
  return identityOf(facts, subject).requests.size > 0;
}

function isAUserOfThePlan(facts: Facts, id: string): boolean {
  const plan = planOf(facts);
  for (let index = 0; index < plan.length; index += 1) if (userIdAt(plan, index) === id) return true;
  return false;
}

/** A few ids that the facts do know, for who asked about one that they do not. */
export function someIds(facts: Facts): readonly string[] {
  const { orders } = postgresOf(facts);
  const [order] = orders;
  const plan = planOf(facts);
  return order === undefined ? (plan.length === 0 ? [] : [requestIdAt(facts.run.load, plan, 0), userIdAt(plan, 0)]) : [order.reservationId, order.userId, order.orderId];
}

/** Reservations that had the token in turn, by the commit log: one unit can be sold, given back and sold again. */
export function reservationsOfToken(facts: Facts, tokenId: string): readonly string[] {
  if (!facts.commitLog.present) return [];
  const owners = new Set<string>();
  for (const { changes } of facts.commitLog.value.transactions) {
    for (const { table, row } of changes) {
      const owner = row['reservation_id'];
      if (table === 'inventory_token' && row['token_id'] === tokenId && typeof owner === 'string') owners.add(owner);
    }
  }
  return [...owners];
}
