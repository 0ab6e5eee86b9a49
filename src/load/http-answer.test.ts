/** The little HTTP that the generator reads: whole answers, every cut through them, and what it must not take for an answer. */
import { describe, expect, it } from 'vitest';

import { codeNumberOf, locationOf, orderIdOf, parseHttpAnswer, reservationIdOf } from './http-answer.js';
import { answerText } from './stub-gateway.test-support.js';

const text = answerText('QUEUED', { reservationId: '01890000-0000-7000-8000-0000000000ff', location: '/v1/x' });

describe('answers over HTTP', () => {
  it('reads status, code, ids and Location', () => {
    const answer = parseHttpAnswer(text);
    if (typeof answer === 'string') throw new Error(answer);
    expect(answer).toMatchObject({ status: 202, closes: false });
    expect([codeNumberOf(answer.body), reservationIdOf(answer.body), orderIdOf(answer.body), locationOf(answer.head)]).toEqual([0, '01890000-0000-7000-8000-0000000000ff', null, '/v1/x']);
  });

  it('waits for the rest wherever it is cut', () => {
    for (let length = 0; length < text.length; length += 1) expect(parseHttpAnswer(text.slice(0, length)), String(length)).toBe('incomplete');
  });

  it('reads headers in any case, and sees that the server closes', () => {
    expect(parseHttpAnswer('HTTP/1.1 410 Gone\r\ncontent-LENGTH:2\r\nConnection:  Close\r\n\r\n{}')).toMatchObject({ status: 410, body: '{}', closes: true });
  });

  it.each([
    ['another protocol', 'SSH-2.0-x'],
    ['no length', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['more than one answer', `${text}${text}`],
    ['no status', 'HTTP/1.1 abc X\r\nContent-Length: 0\r\n\r\n'],
    ['an interim status', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('takes %s for none', (_what, broken) => {
    expect(parseHttpAnswer(broken)).toBe('broken');
  });

  it('has no code for what is none of the contract', () => {
    expect(codeNumberOf('{"code":"WON"}')).toBe(255);
    expect(codeNumberOf('<html>')).toBe(255);
  });
});
