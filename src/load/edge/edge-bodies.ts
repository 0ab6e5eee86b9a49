/**
 * The bodies of an edge's batches. Items are written once before the storm into one long buffer, the tape, and a batch is a piece of it: arrivals are issued in
 * order, so those of a batch lie side by side. Nothing is written or copied per arrival while the storm blows (LOAD "Request tape").
 */
import { BATCH_CONTENT_TYPES, BINARY_ITEM_BYTES, BINARY_REQUEST_ID_MAX, batchPath } from '../../domain/batch-contract.js';
import type { HostPort } from '../../domain/role-config.js';
import { requestIdAt, userIdAt } from '../../facts/arrival-plan.js';
import { ARRIVAL_KINDS, type ArrivalKind } from '../../facts/load-spec.js';
import { bodyOf } from '../request-text.js';
import type { StormParts } from '../storm.js';

export interface EdgeRequest {
  /** Head, and what of the body comes before the items. */
  readonly text: string;
  /** Items, and what comes after them. */
  readonly body: Buffer;
}

export interface EdgeBodies {
  /** The batch of arrivals [from, to) for a gateway. */
  request(target: number, from: number, to: number): EdgeRequest;
  /** A batch of so many malformed items, for the rehearsal. */
  malformed(target: number, items: number): EdgeRequest;
}

const MALFORMED_JSON = '{"requestId":"rehearsal","userId":"1","quantity":2},';
/** Written in pieces of this size at first; a tape of three million items grows a few times. */
const FIRST_BYTES_PER_ITEM = 80;

function headsFor(targets: readonly HostPort[], { load }: StormParts, form: 'json' | 'binary'): readonly string[] {
  return targets.map(({ host, port }) =>
    `POST ${batchPath(load.activityId, load.skuId)} HTTP/1.1\r\nHost: ${host}:${String(port)}\r\nContent-Type: ${BATCH_CONTENT_TYPES[form]}\r\nContent-Length: `);
}

export function edgeBodiesFor(targets: readonly HostPort[], parts: StormParts): EdgeBodies {
  const form = parts.load.edgeForm ?? 'json';
  const heads = headsFor(targets, parts, form);
  const headOf = (target: number): string => heads[target] ?? '';
  return form === 'binary' ? binaryBodies(headOf, parts) : jsonBodies(headOf, parts);
}

const PAYLOADS = ARRIVAL_KINDS.map((kind: ArrivalKind) => bodyOf(kind).slice(1));

/** Fields in the order ids, permit, device, payload; a comma at the end. */
function itemText({ load, plan, permits }: StormParts, index: number): string {
  const shown = permits.shownAt(index);
  const permit = shown === null ? '' : `${shown.permit === null ? '' : `"permit":"${shown.permit}",`}"deviceId":"${shown.deviceId}",`;
  return `{"requestId":"${requestIdAt(load, plan, index)}","userId":"${userIdAt(plan, index)}",${permit}${PAYLOADS[plan.kind[index] ?? 0] ?? ''},`;
}

interface Tape {
  readonly bytes: Buffer;
  /** Where each item begins, and the end of the last. */
  readonly starts: Float64Array;
}

function writeTape(parts: StormParts): Tape {
  const { length } = parts.plan;
  const starts = new Float64Array(length + 1);
  let bytes = Buffer.allocUnsafe(length * FIRST_BYTES_PER_ITEM + 1_024);
  let at = 0;
  for (let index = 0; index < length; index += 1) {
    const text = itemText(parts, index);
    if (at + text.length > bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
    bytes.write(text, at, 'latin1');
    at += text.length;
    starts[index + 1] = at;
  }
  return { bytes, starts };
}

/**
 * A batch is `[` with the head, its piece of the tape without the last comma, and `]`. The comma of the tape is overwritten by `]` while the batch is written
 * and put back by nobody: the next batch begins behind it.
 */
function jsonBodies(headOf: (target: number) => string, parts: StormParts): EdgeBodies {
  // A permit's time runs from its making, so it is made when it is shown.
  const tape = parts.load.permits === null ? writeTape(parts) : null;
  const request = (target: number, body: Buffer): EdgeRequest => ({ text: `${headOf(target)}${String(body.length + 1)}\r\n\r\n[`, body });
  const closed = (bytes: Buffer): Buffer => {
    bytes[bytes.length - 1] = 0x5d;
    return bytes;
  };
  return {
    request(target, from, to) {
      if (tape !== null) return request(target, closed(tape.bytes.subarray(tape.starts[from] ?? 0, tape.starts[to] ?? 0)));
      const texts: string[] = [];
      for (let index = from; index < to; index += 1) texts.push(itemText(parts, index));
      return request(target, closed(Buffer.from(texts.join(''), 'latin1')));
    },
    malformed: (target, items) => request(target, closed(Buffer.from(MALFORMED_JSON.repeat(items), 'latin1'))),
  };
}

function binaryBodies(headOf: (target: number) => string, { load, plan, permits }: StormParts): EdgeBodies {
  const { repeatShare, sameUserShare } = load.mix;
  if (load.permits !== null || permits.shownAt(0) !== null || load.mix.conflictShare + load.mix.malformedShare > 0) {
    throw new Error(`a binary edge carries fresh requests and repeats alone, not what this mix asks for (repeats ${String(repeatShare)}, same user ${String(sameUserShare)})`);
  }
  const bytes = Buffer.alloc(plan.length * BINARY_ITEM_BYTES);
  for (let index = 0; index < plan.length; index += 1) {
    const at = index * BINARY_ITEM_BYTES;
    const requestId = requestIdAt(load, plan, index);
    if (requestId.length > BINARY_REQUEST_ID_MAX) throw new Error(`request id ${requestId} is too long for a binary item`);
    bytes.writeBigUInt64BE(BigInt(userIdAt(plan, index)), at);
    bytes[at + 8] = requestId.length;
    bytes.write(requestId, at + 9, 'latin1');
  }
  const request = (target: number, body: Buffer): EdgeRequest => ({ text: `${headOf(target)}${String(body.length)}\r\n\r\n`, body });
  return {
    request: (target, from, to) => request(target, bytes.subarray(from * BINARY_ITEM_BYTES, to * BINARY_ITEM_BYTES)),
    // User 0 is nobody.
    malformed: (target, items) => request(target, Buffer.alloc(items * BINARY_ITEM_BYTES)),
  };
}
