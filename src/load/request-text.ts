/**
 * The bytes of a request as text: everything but the two ids is built once per target. A flat latin1 string costs one copy in `socket.write`, the
 * same as a prebuilt buffer, and needs no memory per arrival.
 */
import { requestLocation, reservationsPath } from '../domain/answer.js';
import type { RequestId, UserId } from '../domain/ids.js';
import type { HostPort } from '../domain/role-config.js';
import type { ArrivalKind, LoadSpec } from '../facts/load-spec.js';

const BODIES: Readonly<Record<ArrivalKind, string>> = {
  fresh: '{"quantity":1}',
  repeat: '{"quantity":1}',
  'same-user': '{"quantity":1}',
  conflict: '{"quantity":1,"clientTag":"other"}',
  malformed: '{"quantity":2}',
};

export function bodyOf(kind: ArrivalKind): string {
  return BODIES[kind];
}

export interface RequestTexts {
  /** `POST` of a reservation. */
  reserve(kind: ArrivalKind, requestId: RequestId, userId: UserId): string;
  /** `GET` of the request's Location. */
  query(requestId: RequestId, userId: UserId): string;
}

export function requestTextsFor(target: HostPort, load: Pick<LoadSpec, 'activityId' | 'skuId'>): RequestTexts {
  const host = `Host: ${target.host}:${String(target.port)}\r\n`;
  const head = `POST ${reservationsPath(load.activityId, load.skuId)} HTTP/1.1\r\n${host}Content-Type: application/json\r\nIdempotency-Key: `;
  const tailOf = (kind: ArrivalKind): string => `\r\nContent-Length: ${String(BODIES[kind].length)}\r\n\r\n${BODIES[kind]}`;
  const tails: Readonly<Record<ArrivalKind, string>> = {
    fresh: tailOf('fresh'),
    repeat: tailOf('repeat'),
    'same-user': tailOf('same-user'),
    conflict: tailOf('conflict'),
    malformed: tailOf('malformed'),
  };
  return {
    reserve: (kind, requestId, userId) => `${head}${requestId}\r\nX-User-Id: ${userId}${tails[kind]}`,
    query: (requestId, userId) => `GET ${requestLocation(load.activityId, load.skuId, requestId)} HTTP/1.1\r\n${host}X-User-Id: ${userId}\r\n\r\n`,
  };
}
