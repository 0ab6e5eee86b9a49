/** From the answers of a batch to its body, in the form in which it was asked. */
import assert from 'node:assert';

import { BINARY_ANSWER_BYTES, type BatchForm } from '../../../domain/batch-contract.js';
import type { GatewayAnswer } from '../answers.js';
import { writeBinaryAnswer } from './binary-item.js';

/**
 * One answer as JSON. Ids and codes have closed alphabets, so only problems and reasons need escaping; putting the text together is a fifth of what
 * `JSON.stringify` takes for the whole object, and nearly all answers of a storm are one refusal with another request id.
 */
export function answerText({ httpStatus, answer, location }: GatewayAnswer): string {
  let text = `{"status":${String(httpStatus)},"code":"${answer.code}"`;
  if (answer.retryAfterMs !== null) text += `,"retryAfterMs":${String(answer.retryAfterMs)}`;
  if (answer.requestId !== null) text += `,"requestId":"${answer.requestId}"`;
  if (answer.reservationId !== null) text += `,"reservationId":"${answer.reservationId}"`;
  if (answer.orderId !== null) text += `,"orderId":"${answer.orderId}"`;
  if (answer.reason !== null) text += `,"reason":${JSON.stringify(answer.reason)}`;
  if (answer.problems.length > 0) text += `,"problems":${JSON.stringify(answer.problems)}`;
  if (location !== null) text += `,"location":"${location}"`;
  return `${text}}`;
}

/** Nothing but its request id tells such an answer from others of its kind. */
function isPlainRefusal({ answer, location }: GatewayAnswer): boolean {
  return answer.requestId !== null && answer.reservationId === null && answer.orderId === null && answer.reason === null && answer.problems.length === 0 && location === null;
}

/** What stands before and behind the request id in a refusal that nothing else tells from others of its kind. */
function aroundRequestId({ httpStatus, answer }: GatewayAnswer): string {
  const whole = answerText({ httpStatus, answer: { ...answer, requestId: '' }, location: null });
  return whole.slice(0, whole.length - TAIL.length);
}

const TAIL = '"}';
export const PLAIN_REFUSAL_TAIL = new Uint8Array(Buffer.from(TAIL, 'latin1'));

/** The bytes before the request id of such a refusal. */
export function plainRefusalHead(told: GatewayAnswer): Uint8Array {
  assert.ok(isPlainRefusal(told), 'a refusal with something of its own besides the request id');
  return new Uint8Array(Buffer.from(aroundRequestId(told), 'latin1'));
}

/** `answerText` of one after another; of refusals of one kind what they share is written once. */
class AnswerTexts {
  /** Only ids and codes so far: one byte a character. */
  isAscii = true;
  #status = 0;
  #code = '';
  #retryAfterMs: number | null = null;
  #head = '';

  next(told: GatewayAnswer): string {
    const { httpStatus, answer } = told;
    if (!isPlainRefusal(told)) {
      if (answer.reason !== null || answer.problems.length > 0) this.isAscii = false;
      return answerText(told);
    }
    if (httpStatus !== this.#status || answer.code !== this.#code || answer.retryAfterMs !== this.#retryAfterMs) {
      this.#status = httpStatus;
      this.#code = answer.code;
      this.#retryAfterMs = answer.retryAfterMs;
      this.#head = aroundRequestId(told);
    }
    return `${this.#head}${answer.requestId ?? ''}${TAIL}`;
  }
}

export function writeBatch(form: BatchForm, answers: readonly GatewayAnswer[]): Buffer {
  if (form === 'binary') {
    const bytes = Buffer.alloc(answers.length * BINARY_ANSWER_BYTES);
    for (const [item, answer] of answers.entries()) writeBinaryAnswer(bytes, item, answer);
    return bytes;
  }
  const texts = new AnswerTexts();
  const [begin, between, end] = form === 'json' ? ['[', ',', ']'] : ['', '\n', answers.length === 0 ? '' : '\n'];
  let text = begin;
  for (let index = 0; index < answers.length; index += 1) {
    const answer = answers[index];
    if (answer === undefined) break;
    if (index > 0) text += between;
    text += texts.next(answer);
  }
  return Buffer.from(text + end, texts.isAscii ? 'latin1' : 'utf8');
}
