/**
 * A waiting room with a lottery (paper `004` §9): first come, first served favours whoever is close and automated. Requests are collected for a short window from the
 * first one on, then `places` of them are drawn and go on; the others hear `429 QUEUE_FULL` with the reason NOT_DRAWN and may try again. Of one user one request id
 * takes part in a round: more tries are no more tickets.
 *
 * The draw needs no trust: each request has the lot SHA-256(`seed:sku:round:requestId`), the smallest lots win. Before anybody is answered the log tells all who took
 * part, in pages, with how each one fared, and then seals them with round, seed, places and counts; whoever has these lines can draw again. A round without its seal
 * was never answered. The seed is to be kept secret until the sale is over, since who knows it can look for a request id with a good lot.
 */
import { createHash } from 'node:crypto';

import type { FunnelTuning } from '../../../domain/funnel.js';
import type { RoleSurroundings } from '../../role.js';
import { queueFull } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer, LayerVerdict } from './layer.js';

export interface WaitingRoomOptions {
  readonly tuning: FunnelTuning['waitingRoom'];
  readonly log: RoleSurroundings['log'];
  /** Names this gateway's rounds, together with the moment of its start: a process that comes after counts from one again. */
  readonly instance: string;
  readonly startedAtMs?: number;
  /** For tests: calls back after so many milliseconds. */
  readonly after?: (delayMs: number, then: () => void) => void;
}

interface Participant {
  readonly request: ValidReservation;
  readonly answer: (verdict: LayerVerdict) => void;
}

const IDS_PER_LINE = 200;

/** The lot of a request, 64 hex characters; smaller is better. */
export function lotOf(seed: number, skuId: string, round: string, requestId: string): string {
  return createHash('sha256').update(`${String(seed)}:${skuId}:${round}:${requestId}`).digest('hex');
}

/** The request ids that are drawn. A request that came twice takes part once. */
export function draw(seed: number, skuId: string, round: string, requestIds: readonly string[], places: number): ReadonlySet<string> {
  const lots = [...new Set(requestIds)].map((requestId) => ({ requestId, lot: lotOf(seed, skuId, round, requestId) }));
  lots.sort((one, other) => (one.lot < other.lot ? -1 : one.lot > other.lot ? 1 : one.requestId < other.requestId ? -1 : 1));
  return new Set(lots.slice(0, places).map(({ requestId }) => requestId));
}

interface Room {
  readonly participants: Participant[];
  readonly requestOfUser: Map<string, string>;
}

export function createWaitingRoom({ tuning, log, instance, startedAtMs = Date.now(), after = (delayMs, then) => setTimeout(then, delayMs) }: WaitingRoomOptions): FunnelLayer {
  const rooms = new Map<string, Room>();
  let rounds = 0;

  function close(skuId: string): void {
    const participants = rooms.get(skuId)?.participants ?? [];
    rooms.delete(skuId);
    rounds += 1;
    const round = `${instance}/${String(startedAtMs)}/${String(rounds)}`;
    const drawn = draw(tuning.seed, skuId, round, participants.map(({ request }) => request.requestId), tuning.places);
    tell(skuId, round, [...new Set(participants.map(({ request }) => request.requestId))], drawn);
    for (const { request, answer } of participants) answer(drawn.has(request.requestId) ? null : queueFull(request.requestId, 'NOT_DRAWN'));
  }

  function tell(skuId: string, round: string, requestIds: readonly string[], drawn: ReadonlySet<string>): void {
    for (const won of [true, false]) {
      const ids = requestIds.filter((requestId) => drawn.has(requestId) === won);
      for (let from = 0; from < ids.length; from += IDS_PER_LINE) log('info', 'lottery: participants', { skuId, round, won, requestIds: ids.slice(from, from + IDS_PER_LINE).join(' ') });
    }
    log('info', 'lottery: drawn', { skuId, round, seed: tuning.seed, places: tuning.places, participants: requestIds.length, drawn: drawn.size });
  }

  return {
    name: 'waiting-room',
    pass(request) {
      const { skuId } = request.sku;
      let room = rooms.get(skuId);
      if (room === undefined) {
        rooms.set(skuId, (room = { participants: [], requestOfUser: new Map<string, string>() }));
        after(tuning.windowMs, () => { close(skuId); });
      }
      const { participants, requestOfUser } = room;
      if ((requestOfUser.get(request.userId) ?? request.requestId) !== request.requestId) return queueFull(request.requestId, 'ONE_TICKET_PER_USER');
      if (participants.length >= tuning.participantsMax) return queueFull(request.requestId, 'WAITING_ROOM_FULL');
      requestOfUser.set(request.userId, request.requestId);
      return new Promise((answer) => { participants.push({ request, answer }); });
    },
  };
}
