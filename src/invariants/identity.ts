/** All the names of one thing: from any of reservation, request, user, order, message or token to the others, through whichever store knows. */
import { requestIdAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { kafkaOf, planOf, postgresOf, redisOf } from './indexes.js';
import { acceptancesOf } from './acceptances.js';
import type { Subject } from './story.js';

export interface Identity {
  readonly reservations: ReadonlySet<string>;
  readonly requests: ReadonlySet<string>;
  readonly users: ReadonlySet<string>;
  readonly orders: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
  readonly tokens: ReadonlySet<string>;
}

/** What one row knows: any of the six names. */
interface Names {
  readonly reservation?: string | null;
  readonly request?: string | null;
  readonly user?: string | null;
  readonly order?: string | null;
  readonly message?: string | null;
  readonly token?: string | null;
}

function* namesInFacts(facts: Facts): Generator<Names> {
  const { orders, reservations, inbox, tokens } = postgresOf(facts);
  for (const row of orders) {
    yield { reservation: row.reservationId, request: row.requestId, user: row.userId, order: row.orderId, message: row.sourceMessageId, token: row.inventoryTokenId };
  }
  for (const row of reservations) yield { reservation: row.reservationId, request: row.requestId, user: row.userId, order: row.orderId, message: row.firstMessageId };
  for (const row of inbox) yield { reservation: row.reservationId, order: row.orderId, message: row.messageId };
  for (const row of tokens) if (row.reservationId !== null) yield { reservation: row.reservationId, token: row.tokenId };
  for (const row of redisOf(facts).records) yield { reservation: row.reservationId, request: row.requestId, user: row.userId, message: row.messageId };
  for (const row of kafkaOf(facts).orders) yield { reservation: row.reservationId, request: row.requestId, user: row.userId, message: row.messageId };
  for (const told of acceptancesOf(facts)) yield { reservation: told.reservationId, request: told.requestId, user: told.userId, order: told.orderId };
}

/** A user is followed to his requests only when the story is about the user: else one heavy user would drown it. */
export function identityOf(facts: Facts, subject: Subject): Identity {
  const setOf = (id: string | null | undefined): Set<string> => new Set(id === undefined || id === null ? [] : [id]);
  const reservations = setOf(subject.reservationId);
  const requests = setOf(subject.requestId);
  const users = setOf(subject.userId);
  const orders = setOf(subject.orderId);
  const messages = setOf(subject.messageId);
  const tokens = setOf(subject.tokenId);
  const followUser = subject.userId !== undefined && subject.userId !== null && subject.reservationId === undefined && subject.requestId === undefined;
  const has = (set: ReadonlySet<string>, id: string | null | undefined): boolean => id !== undefined && id !== null && set.has(id);
  const add = (set: Set<string>, id: string | null | undefined): void => {
    if (id !== undefined && id !== null) set.add(id);
  };
  // Twice, since a name learnt from one store may be the key into another.
  for (let round = 0; round < 2; round += 1) {
    for (const names of namesInFacts(facts)) {
      const known = has(reservations, names.reservation) || has(requests, names.request) || has(orders, names.order) || has(messages, names.message);
      if (!known && !has(tokens, names.token) && !(followUser && has(users, names.user))) continue;
      add(reservations, names.reservation);
      add(requests, names.request);
      add(users, names.user);
      add(orders, names.order);
      add(messages, names.message);
      add(tokens, names.token);
    }
  }
  return { reservations, requests, users, orders, messages, tokens };
}

/** Arrivals of the given request ids, by index. */
export function arrivalsOf(facts: Facts, requests: ReadonlySet<string>): readonly number[] {
  const roots = new Set<number>();
  for (const requestId of requests) {
    const root = rootOf(facts, requestId);
    if (root !== null) roots.add(root);
  }
  return arrivalsOfRoots(facts, roots);
}

/** Arrivals that use the request id of one of these arrivals, by index. */
export function arrivalsOfRoots(facts: Facts, roots: ReadonlySet<number>): readonly number[] {
  const { length, requestOf } = planOf(facts);
  const found: number[] = [];
  if (roots.size === 0) return found;
  // A flag per arrival: a set lookup for each of three million would cost half a second.
  const wanted = new Uint8Array(length);
  for (const root of roots) wanted[root] = 1;
  for (let index = 0; index < length; index += 1) if (wanted[requestOf[index] ?? index] === 1) found.push(index);
  return found;
}

/** The arrival that a request id was made for; null when the plan has no such request. */
export function rootOf(facts: Facts, requestId: string): number | null {
  const plan = planOf(facts);
  const index = Number(requestId.slice(requestId.lastIndexOf('-') + 1));
  if (!Number.isInteger(index) || index < 0 || index >= plan.length) return null;
  return plan.requestOf[index] === index && requestIdAt(facts.run.load, plan, index) === requestId ? index : null;
}
