/**
 * The bytes of a request as text: everything but the two ids is built once per target. A flat latin1 string costs one copy in `socket.write`, the
 * same as a prebuilt buffer, and needs no memory per arrival.
 */
import { requestLocation, reservationsPath } from '../domain/answer.js';
import type { RequestId, UserId } from '../domain/ids.js';
import type { HostPort } from '../domain/role-config.js';
import { ARRIVAL_KINDS, type ArrivalKind, type LoadSpec } from '../facts/load-spec.js';

const BODIES: Readonly<Record<ArrivalKind, string>> = {
  fresh: '{"quantity":1}',
  repeat: '{"quantity":1}',
  'same-user': '{"quantity":1}',
  conflict: '{"quantity":1,"clientTag":"other"}',
  malformed: '{"quantity":2}',
  'no-permit': '{"quantity":1}',
  'forged-permit': '{"quantity":1}',
  'expired-permit': '{"quantity":1}',
  'replayed-permit': '{"quantity":1}',
};

export function bodyOf(kind: ArrivalKind): string {
  return BODIES[kind];
}

export interface RequestTexts {
  /** `POST` of a reservation. `headers`: lines of the arrival's own, each begun with CR LF. */
  reserve(kind: ArrivalKind, requestId: RequestId, userId: UserId, headers: string): string;
  /** `GET` of the request's Location. */
  query(requestId: RequestId, userId: UserId): string;
}

export function requestTextsFor(target: HostPort, load: Pick<LoadSpec, 'activityId' | 'skuId'>): RequestTexts {
  const host = `Host: ${target.host}:${String(target.port)}\r\n`;
  const head = `POST ${reservationsPath(load.activityId, load.skuId)} HTTP/1.1\r\n${host}Content-Type: application/json\r\nIdempotency-Key: `;
  const tails = Object.fromEntries(ARRIVAL_KINDS.map((kind) => [kind, `\r\nContent-Length: ${String(BODIES[kind].length)}\r\n\r\n${BODIES[kind]}`])) as Record<ArrivalKind, string>;
  return {
    reserve: (kind, requestId, userId, headers) => `${head}${requestId}\r\nX-User-Id: ${userId}${headers}${tails[kind]}`,
    query: (requestId, userId) => `GET ${requestLocation(load.activityId, load.skuId, requestId)} HTTP/1.1\r\n${host}X-User-Id: ${userId}\r\n\r\n`,
  };
}
