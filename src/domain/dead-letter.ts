/**
 * A dead letter: a message that could not be worked off and was taken out of the way of the ones behind it (paper `000` §7.4), as JSON in the
 * value of a record on the dead-letter topic. It carries the original whole, so that it can be sent again, and says where that lies.
 *
 * Its id is the place of the original. Sending a dead letter twice is no harm: whoever reads the topic knows it by its id.
 */
import { isPositiveInt8, isRequestId, type ActivityId, type MessageId, type RequestId, type ReservationId, type SkuId } from './ids.js';

/** Closed list. What fails because a store is away is none of them: it is waited for. */
export const DeadLetterCause = {
  /** No message of the schema, or one whose values fit no column. */
  MALFORMED: 'MALFORMED',
  /** The database refuses this message for a cause that lies in its data. */
  REFUSED: 'REFUSED',
  /**
   * The tables hold what no correct writer can have written, or this message alone is never worked off: always in conflict, always too slow, or by a bug. Nobody knows what
   * would be right.
   */
  ANOMALY: 'ANOMALY',
} as const;
export type DeadLetterCause = (typeof DeadLetterCause)[keyof typeof DeadLetterCause];

/** Bytes of the original as text: `utf8` where that loses nothing, else `base64`. */
export interface DeadLetterBytes {
  readonly encoding: 'utf8' | 'base64';
  readonly text: string;
}

/** What of the original could be read. Null where it could not. */
export interface DeadLetterIds {
  readonly messageId: MessageId | null;
  readonly reservationId: ReservationId | null;
  readonly requestId: RequestId | null;
  readonly activityId: ActivityId | null;
  readonly skuId: SkuId | null;
}

/** Where the original lies. */
export interface DeadLetterOrigin {
  readonly originTopic: string;
  readonly originPartition: number;
  readonly originOffset: string;
}

export interface DeadLetter extends DeadLetterIds, DeadLetterOrigin {
  readonly schemaVersion: 1;
  /** Consumer group that gave it up. */
  readonly group: string;
  readonly cause: DeadLetterCause;
  /** In words, at most `DETAIL_MAX` characters. */
  readonly detail: string;
  /** How often it was tried before. */
  readonly attempts: number;
  /** When the process that gave it up first met it, milliseconds since the epoch. */
  readonly firstSeenAtMs: number;
  readonly deadAtMs: number;
  /** Null: the original had none. */
  readonly key: DeadLetterBytes | null;
  /** Null: the original had none, or it made the letter larger than `LETTER_BYTES_MAX`; then `valueBytes` is larger than 0. */
  readonly value: DeadLetterBytes | null;
  /** Size of the original value. */
  readonly valueBytes: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Header of a message that was sent again out of a dead letter: the letter's id. */
export const REPLAY_HEADER = 'replay-of';
export const DETAIL_MAX = 500;
/** The broker takes one MiB, frame included. */
export const LETTER_BYTES_MAX = 900_000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function deadLetterId(origin: DeadLetterOrigin): string {
  return `${origin.originTopic}/${String(origin.originPartition)}/${origin.originOffset}`;
}

/** The ids that a text holds in their right places, however broken the rest may be. Never throws. */
export function readableIds(text: string): DeadLetterIds {
  let value: Readonly<Record<string, unknown>> = {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) value = parsed as Record<string, unknown>;
  } catch {
    // Not JSON: nothing in it can be trusted.
  }
  const take = (field: keyof DeadLetterIds, holds: (text: string) => boolean): string | null => {
    const found = value[field];
    return typeof found === 'string' && holds(found) ? found : null;
  };
  const isUuid = (text: string): boolean => UUID.test(text);
  return {
    messageId: take('messageId', isUuid),
    reservationId: take('reservationId', isUuid),
    requestId: take('requestId', isRequestId),
    activityId: take('activityId', isPositiveInt8),
    skuId: take('skuId', isPositiveInt8),
  };
}

export function encodeDeadLetter(letter: DeadLetter): string {
  return JSON.stringify(letter);
}

/** The dead letter, or every problem found. Never throws: this topic can be written to by mistake like any other. */
export function parseDeadLetter(text: string): { readonly ok: true; readonly letter: DeadLetter } | { readonly ok: false; readonly problems: readonly string[] } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { ok: false, problems: ['not JSON'] };
  }
  if (!isObject(parsed)) return { ok: false, problems: ['not an object'] };
  const value = parsed;
  const problems: string[] = [];
  const need = (field: keyof DeadLetter, holds: boolean): void => {
    if (!holds) problems.push(`${field} is missing or malformed`);
  };
  const isCount = (field: unknown, least: number): boolean => Number.isSafeInteger(field) && (field as number) >= least;
  need('schemaVersion', value['schemaVersion'] === 1);
  need('originTopic', isText(value['originTopic']) && value['originTopic'].length > 0 && value['originTopic'].length <= 249);
  need('originPartition', isCount(value['originPartition'], 0));
  need('originOffset', isText(value['originOffset']) && /^[0-9]{1,18}$/.test(value['originOffset']));
  need('group', isText(value['group']));
  need('cause', isText(value['cause']) && Object.hasOwn(DeadLetterCause, value['cause']));
  need('detail', isText(value['detail']));
  need('attempts', isCount(value['attempts'], 1));
  for (const field of ['firstSeenAtMs', 'deadAtMs', 'valueBytes'] as const) need(field, isCount(value[field], 0));
  for (const field of ['key', 'value'] as const) need(field, value[field] === null || isBytes(value[field]));
  need('headers', isObject(value['headers']) && Object.values(value['headers']).every(isText));
  // Ids are read again by their own rules: an id that is none must not reach a column or a look-up.
  const ids = readableIds(text);
  for (const field of Object.keys(ids) as (keyof DeadLetterIds)[]) need(field, value[field] === null || value[field] === ids[field]);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, letter: parsed as unknown as DeadLetter };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isBytes(value: unknown): boolean {
  return isObject(value) && (value['encoding'] === 'utf8' || value['encoding'] === 'base64') && isText(value['text']);
}
