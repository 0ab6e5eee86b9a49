/** The door of the sale: permits in the book that gateways share, and draws that were held otherwise than they were published. */
import { anyOf, someOf, type Draft, type HistoryMutant } from './history-mutant.js';

function doors(name: string, description: string, unit: string, apply: HistoryMutant['apply'], magnitudes: readonly number[] = [1]): HistoryMutant {
  return { name, description, unit, magnitudes, equivalent: null, apply };
}

type Draw = Draft['lottery'][number];
type Permit = Draft['redis']['permits'][number];

/** Permits with which somebody got in: of those that were spent in vain the book may say anything. */
function usedPermits(draft: Draft): readonly Permit[] {
  // A Redis that lost writes has lost pages of its book too.
  if (draft.faults.some(({ proof, mayLose }) => proof === 'landed' && mayLose !== null) || draft.run.load.permits === null) return [];
  const accepted = new Set(draft.redis.records.map(({ requestId }) => requestId));
  return draft.redis.permits.filter(({ requestId }) => accepted.has(requestId));
}

function eachDraw(change: (draw: Draw, magnitude: number, draft: Draft) => boolean): HistoryMutant['apply'] {
  return (draft, random, magnitude) => {
    const draw = anyOf(draft.run.waitingRoom === null ? [] : draft.lottery.filter(({ drawn }) => drawn.length > 0), random);
    return draw !== null && change(draw, magnitude, draft);
  };
}

/** When a request that the draw let go on got its reservation first; null: none of them has one. */
function firstReservedMs({ drawn }: Draw, draft: Draft): number | null {
  const times = draft.redis.records.filter(({ requestId }) => drawn.includes(requestId)).map(({ reservedAtMs }) => reservedAtMs);
  return times.length === 0 ? null : Math.min(...times);
}

export const DOOR_MUTANTS: readonly HistoryMutant[] = [
  doors('drop-permit', 'A permit that let somebody in is in nobody’s book.', 'permits', (draft, random, magnitude) => {
    const gone = someOf(usedPermits(draft), magnitude, random);
    for (const permit of gone ?? []) draft.redis.permits.splice(draft.redis.permits.indexOf(permit), 1);
    return gone !== null;
  }, [1, 2, 5]),
  doors('double-permit', 'A permit stands in the book twice.', 'copies', (draft, random) => {
    const permit = anyOf(usedPermits(draft), random);
    if (permit !== null) draft.redis.permits.push({ ...permit });
    return permit !== null;
  }),
  doors('spend-permit-by-another', 'A permit that let somebody in was spent by another request.', 'permits', (draft, random) => {
    const permit = anyOf(usedPermits(draft), random);
    const other = anyOf(draft.redis.records.filter(({ requestId }) => requestId !== permit?.requestId), random);
    if (permit === null || other === null) return false;
    permit.requestId = other.requestId;
    return true;
  }),
  doors('drop-draw', 'A draw that let buyers go on was never held.', 'draws', (draft, random) => {
    const draw = anyOf(draft.run.waitingRoom === null ? [] : draft.lottery.filter((each) => each.drawn.some((requestId) => isOnlyDrawnIn(draft, each, requestId))), random);
    if (draw !== null) draft.lottery.splice(draft.lottery.indexOf(draw), 1);
    return draw !== null;
  }),
  doors('double-draw', 'A draw was held twice.', 'draws', (draft, random) => {
    const draw = anyOf(draft.run.waitingRoom === null ? [] : draft.lottery, random);
    if (draw !== null) draft.lottery.push(structuredClone(draw));
    return draw !== null;
  }),
  doors('draw-of-another-seed', 'A draw was held with another seed than was set before the sale.', 'seeds away', eachDraw((draw, magnitude) => ((draw.seed += magnitude), true)), [1, 10]),
  doors('draw-of-more-places', 'A draw had more places than were set.', 'places', eachDraw((draw, magnitude) => ((draw.places += magnitude), true)), [1, 10]),
  doors('pass-over-winner', 'A request with one of the best lots was passed over.', 'requests', eachDraw((draw) => draw.drawn.pop() !== undefined)),
  doors('let-loser-go-on', 'A request that others had better lots than was let go on.', 'requests', eachDraw((draw) => {
    const loser = draw.entered.find((requestId) => !draw.drawn.includes(requestId));
    if (loser !== undefined) draw.drawn.push(loser);
    return loser !== undefined;
  })),
  doors('two-tickets', 'A request took part in a draw twice.', 'tickets', eachDraw((draw) => draw.entered.push(draw.entered[0] ?? '') > 1)),
  doors('draw-after-reservation', 'A draw was held after a request that it let go on had its reservation.', 'ms past the bound of the clocks', eachDraw((draw, magnitude, draft) => {
    const reservedMs = firstReservedMs(draw, draft);
    if (reservedMs === null || draft.lottery.some((other) => other !== draw && other.drawn.some((requestId) => draw.drawn.includes(requestId)))) return false;
    draw.drawnAtMs = reservedMs + Math.ceil(draft.run.clock.boundUs / 1_000) + 1 + magnitude;
    return true;
  }), [1, 1_000]),
];

/** It has its reservation by this draw alone. */
function isOnlyDrawnIn(draft: Draft, draw: Draw, requestId: string): boolean {
  return draft.redis.records.some((record) => record.requestId === requestId) && !draft.lottery.some((other) => other !== draw && other.drawn.includes(requestId));
}
