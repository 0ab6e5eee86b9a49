/** From the answers of a batch to its body, in the form in which it was asked. */
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

export function writeBatch(form: BatchForm, answers: readonly GatewayAnswer[]): Buffer {
  if (form === 'binary') {
    const bytes = Buffer.alloc(answers.length * BINARY_ANSWER_BYTES);
    for (const [item, answer] of answers.entries()) writeBinaryAnswer(bytes, item, answer);
    return bytes;
  }
  const texts: string[] = [];
  for (const answer of answers) texts.push(answerText(answer));
  return Buffer.from(form === 'json' ? `[${texts.join(',')}]` : texts.map((text) => `${text}\n`).join(''));
}
