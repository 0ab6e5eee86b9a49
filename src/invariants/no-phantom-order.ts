/**
 * no-phantom-order: every order goes back to a request of the schedule that was really sent, by its own user, and to a message in the topic.
 *
 * The schedule is expanded again from the seed, so a generator that invents requests cannot vouch for itself.
 */
import { ARRIVAL_KINDS, PERMITLESS_KINDS } from '../facts/load-spec.js';
import { userIdAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { ARRIVAL_OUTCOMES } from '../facts/history.js';
import type { OrderRow } from '../facts/store-facts.js';
import { arrivalsOfRoots, rootOf } from './identity.js';
import { ordersTopicIsWhole, planOf, postgresOf, topicByReservation } from './indexes.js';
import type { Invariant } from './invariant.js';
import { tallyFor, type Tally } from './tally.js';

const MALFORMED = ARRIVAL_KINDS.indexOf('malformed');
const PERMITLESS = new Set(PERMITLESS_KINDS.map((kind) => ARRIVAL_KINDS.indexOf(kind)));
const REACHED = new Set([ARRIVAL_OUTCOMES.indexOf('answered'), ARRIVAL_OUTCOMES.indexOf('indeterminate')]);

export const noPhantomOrder: Invariant = {
  name: 'no-phantom-order',
  title: 'No order out of nothing',
  whatItMeans: 'Every order was asked for by its own user in the schedule of the load, and its reservation went through the topic.',
  needs: ['history', 'kafka', 'postgres'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(noPhantomOrder, facts);
    const { orders } = postgresOf(facts);
    const roots = orders.map((order) => rootOf(facts, order.requestId));
    const sent = sentRoots(facts, new Set(roots.filter((root) => root !== null)));
    for (const [index, order] of orders.entries()) {
      tally.check();
      const problem = askedProblem(facts, order, roots[index] ?? null, sent) ?? topicProblem(facts, order, tally);
      if (problem === null) continue;
      tally.violation({ kind: 'order', id: order.orderId, subject: { orderId: order.orderId, reservationId: order.reservationId }, claim: `Order ${order.orderId} ${problem}.` });
    }
    return tally.verdict();
  },
};

/** Of these requests, those of which at least one arrival may have reached the system. Null: no history, nothing can be said. */
function sentRoots(facts: Facts, roots: ReadonlySet<number>): ReadonlySet<number> | null {
  if (!facts.history.present) return null;
  const { columns } = facts.history.value;
  const plan = planOf(facts);
  const sent = new Set<number>();
  for (const index of arrivalsOfRoots(facts, roots)) if (REACHED.has(columns.outcome[index] ?? -1)) sent.add(plan.requestOf[index] ?? index);
  return sent;
}

function askedProblem(facts: Facts, order: OrderRow, root: number | null, sent: ReadonlySet<number> | null): string | null {
  const plan = planOf(facts);
  if (root === null) return `is for request ${order.requestId}, which is not in the schedule`;
  if (PERMITLESS.has(plan.kind[root] ?? -1)) return `is for request ${order.requestId}, which showed no good permit`;
  if (userIdAt(plan, root) !== order.userId) return `is for user ${order.userId}, the schedule gives request ${order.requestId} to user ${userIdAt(plan, root)}`;
  if (order.skuId !== facts.run.load.skuId) return `is for SKU ${order.skuId}, the load asked for ${facts.run.load.skuId}`;
  if (plan.kind[root] === MALFORMED) return `is for request ${order.requestId}, which was malformed`;
  if (sent !== null && !sent.has(root)) return `is for request ${order.requestId}, which surely was never sent`;
  return null;
}

function topicProblem(facts: Facts, order: OrderRow, tally: Tally): string | null {
  if (!facts.kafka.present) return null;
  const messages = topicByReservation(facts).get(order.reservationId) ?? [];
  if (messages.length === 0) {
    if (ordersTopicIsWhole(facts)) return `has reservation ${order.reservationId}, which is not in the topic`;
    tally.gap('the orders topic has lost its beginning, and some orders are not in what is left');
    return null;
  }
  const own = messages.some((message) => message.requestId === order.requestId && message.userId === order.userId);
  return own ? null : `belongs to user ${order.userId} and request ${order.requestId}, its message to user ${String(messages[0]?.userId)} and request ${String(messages[0]?.requestId)}`;
}
