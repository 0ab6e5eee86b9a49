/** The inproc transport over a stub submit: answers with and without waiting, rejections, deadlines, and a rate that sockets could not carry. */
import { describe, expect, it, vi } from 'vitest';

import type { AnswerCode } from '../domain/reason-codes.js';
import { HTTP_STATUS_OF } from '../domain/answer.js';
import { outcomeName } from '../facts/history.js';
import type { InprocAnswer, InprocGateway, InprocRequest } from './inproc-port.js';
import { InprocStorm } from './inproc-storm.js';
import { blow, loadSpec } from './storm-run.test-support.js';

vi.setConfig({ testTimeout: 30_000 });

function answerOf(code: AnswerCode, requestId: string | null = null): InprocAnswer {
  return { httpStatus: HTTP_STATUS_OF[code], answer: { code, requestId, reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: null }, location: null };
}

function gatewayOf(submit: (request: InprocRequest) => InprocAnswer | Promise<InprocAnswer>): InprocGateway {
  return { submit, query: (requestId) => Promise.resolve(answerOf('ORDERED', requestId)), metricsText: () => Promise.resolve(''), close: () => Promise.resolve() };
}

describe('inproc storm', () => {
  it('hears answers that come at once, later, never, too late, or not as an answer', async () => {
    let calls = 0;
    const submit = (): InprocAnswer | Promise<InprocAnswer> => {
      calls += 1;
      if (calls % 5 === 0) return answerOf('SOLD_OUT');
      if (calls % 5 === 1) return new Promise((resolve) => setTimeout(() => resolve(answerOf('LIMITED')), 20));
      if (calls % 5 === 2) return new Promise(() => undefined);
      if (calls % 5 === 3) return new Promise((resolve) => setTimeout(() => resolve(answerOf('QUEUED')), 2_000));
      return Promise.reject(new Error('lost'));
    };
    const { columns, facts, tellings } = await blow(loadSpec({ transport: 'inproc', requestTimeoutMs: 1_000 }), (parts) => new InprocStorm(gatewayOf(submit), parts), {
      until: (told) => told.filter(({ kind }) => kind === 'poll').length === 300,
    });
    expect(facts).toMatchObject({ scheduled: 500, issued: 500, answered: 200, indeterminate: 300, dropped: 0 });
    for (let index = 0; index < 500; index += 1) expect(outcomeName(columns, index)).toBe((index + 1) % 5 < 2 ? 'answered' : 'indeterminate');
    expect(tellings.filter(({ kind }) => kind === 'final-poll').length).toBe(300);
    expect(tellings.every(({ code }) => code === 'ORDERED')).toBe(true);
  });

  it('hands over the body and the ids of each arrival', async () => {
    const requests: InprocRequest[] = [];
    const mix = { repeatShare: 0.2, sameUserShare: 0, conflictShare: 0.2, malformedShare: 0.2, distinctUsers: null };
    const { columns } = await blow(loadSpec({ transport: 'inproc', mix }), (parts) => new InprocStorm(gatewayOf((request) => (requests.push(request), answerOf('SOLD_OUT'))), parts));
    expect(columns.length).toBe(500);
    expect(new Set(requests.map(({ body }) => body))).toEqual(new Set(['{"quantity":1}', '{"quantity":2}', '{"quantity":1,"clientTag":"other"}']));
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBeLessThan(500);
  });

  it('hands over what HTTP would carry in headers', async () => {
    const requests: InprocRequest[] = [];
    const permits = { validForMs: 60_000, bots: { noPermit: 0.3, forgedPermit: 0, expiredPermit: 0, replayedPermit: 0, devices: 2 } };
    await blow(loadSpec({ transport: 'inproc', permits }), (parts) => new InprocStorm(gatewayOf((request) => (requests.push(request), answerOf('SOLD_OUT'))), parts));
    expect(requests.every(({ deviceId }) => deviceId !== undefined)).toBe(true);
    const without = requests.filter(({ permit }) => permit === null).length;
    expect(without).toBeGreaterThan(50);
    expect(without).toBeLessThan(300);
  });

  it('issues 300,000 in a second', async () => {
    const { facts } = await blow(loadSpec({ transport: 'inproc', ratePerSecond: 300_000, durationMs: 1_000, requestTimeoutMs: 30_000 }), (parts) =>
      new InprocStorm(gatewayOf(async () => answerOf('SOLD_OUT')), parts),
    );
    expect(facts).toMatchObject({ scheduled: 300_000, issued: 300_000, answered: 300_000 });
  });
});
