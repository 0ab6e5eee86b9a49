/**
 * Reads a JSON batch of plain items without a parser: nearly all batches are items of the three fields in the order of the contract without a blank, and making 300,000
 * objects a second only to check them field by field was the largest part of deciding them (docs/decisions/0025).
 *
 * Nothing is guessed: what is not byte for byte of this form is left to `JSON.parse`. Ids of closed alphabets have no escapes, so both readings are the same.
 */
import { BATCH_ITEMS_MAX } from '../../../domain/batch-contract.js';

const BEFORE_REQUEST = '{"requestId":"';
const BEFORE_USER = '","userId":"';
const AFTER_USER = '","quantity":1}';

const REQUEST_ID_MAX_LENGTH = 64;
/** All of them are below 2^63. */
const USER_ID_MAX_LENGTH = 18;

const ZERO = 48;
const NINE = 57;
/** By character code: 1 where a request id may hold it. */
const OF_REQUEST_ID = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-') OF_REQUEST_ID[character.charCodeAt(0)] = 1;

/** The end of a request id that begins at `from`, which is the first character that cannot be its own. */
function endOfRequestId(text: string, from: number): number {
  let at = from;
  while (OF_REQUEST_ID[text.charCodeAt(at)] === 1) at += 1;
  return at;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) at += 1;
  return at;
}

/** A short slice is a copy; a longer one would hold on to the text of the whole batch for as long as a winner's id is remembered. */
const COPIED_BELOW = 13;

/** Calls back with the ids of each item, in order. False: not of this form, or more items than a batch may have; what was called back before then is to be forgotten. */
export function scanPlainItems(body: Buffer, item: (requestId: string, userId: string) => void): boolean {
  // One byte a character: what is beyond ASCII is of no alphabet here, whatever it would decode to.
  const text = body.toString('latin1');
  const piece = (from: number, to: number): string => (to - from < COPIED_BELOW ? text.slice(from, to) : body.toString('latin1', from, to));
  if (!text.startsWith('[')) return false;
  let at = 1;
  for (let items = 0; items < BATCH_ITEMS_MAX; items += 1) {
    if (!text.startsWith(BEFORE_REQUEST, at)) return false;
    const request = at + BEFORE_REQUEST.length;
    const requestEnd = endOfRequestId(text, request);
    if (requestEnd === request || requestEnd - request > REQUEST_ID_MAX_LENGTH || !text.startsWith(BEFORE_USER, requestEnd)) return false;
    const user = requestEnd + BEFORE_USER.length;
    const userEnd = endOfDigits(text, user);
    if (userEnd === user || userEnd - user > USER_ID_MAX_LENGTH || text.charCodeAt(user) === ZERO || !text.startsWith(AFTER_USER, userEnd)) return false;
    item(piece(request, requestEnd), piece(user, userEnd));
    at = userEnd + AFTER_USER.length;
    if (text.charCodeAt(at) === 0x5d) return at + 1 === text.length;
    if (text.charCodeAt(at) !== 0x2c) return false;
    at += 1;
  }
  return false;
}
