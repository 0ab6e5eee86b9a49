/** Which answers are told line by line, who comes back to ask, how often, and the last round. */
import { afterEach, describe, expect, it, vi } from 'vitest';

import { expandArrivalPlan, requestIdAt } from '../facts/arrival-plan.js';
import { requestLocation } from '../domain/answer.js';
import type { LoadSpec } from '../facts/load-spec.js';
import { HttpStorm } from './http-storm.js';
import { blow, loadSpec } from './storm-run.test-support.js';
import { StubGateway, type StubRequest } from './stub-gateway.test-support.js';

vi.setConfig({ testTimeout: 30_000 });

let stub: StubGateway | null = null;
afterEach(async () => {
  await stub?.kill();
  stub = null;
});

const RESERVATION = '01890000-0000-7000-8000-0000000000aa';

async function storm(load: LoadSpec, post: (request: StubRequest) => void, query: (request: StubRequest) => void, until?: (polls: number) => boolean) {
  const started = await StubGateway.start(post, 0, query);
  stub = started;
  const tellings = await blow(load, (parts) => new HttpStorm([started.address], parts), until === undefined ? {} : { until: (told) => until(told.filter(({ kind }) => kind === 'poll').length) });
  return tellings;
}

describe('follow-up clients', () => {
  it('ask the Location until a final state is heard, and once more after settling', async () => {
    const asked = new Map<string, number>();
    const { tellings } = await storm(
      loadSpec({ ratePerSecond: 200, durationMs: 100, pollIntervalMs: 20 }),
      (request) => request.answer('QUEUED', { reservationId: RESERVATION, location: requestLocation('1', '2', request.requestId) }),
      (request) => {
        const times = (asked.get(request.requestId) ?? 0) + 1;
        asked.set(request.requestId, times);
        if (times < 3) request.answer('QUEUED', { status: 200, reservationId: RESERVATION });
        else request.answer('ORDERED', { reservationId: RESERVATION, orderId: '77' });
      },
      (polls) => polls === 20 * 3,
    );
    const kinds = (kind: string): number => tellings.filter((told) => told.kind === kind).length;
    expect([kinds('first-answer'), kinds('poll'), kinds('final-poll')]).toEqual([20, 60, 20]);
    expect(new Set(asked.values())).toEqual(new Set([4]));
    expect(tellings.at(-1)).toMatchObject({ kind: 'final-poll', code: 'ORDERED', orderId: '77', reservationId: RESERVATION, httpStatus: 200 });
    expect(tellings[0]).toMatchObject({ kind: 'first-answer', code: 'QUEUED', location: requestLocation('1', '2', tellings[0]!.requestId) });
    for (const told of tellings) expect(told.answeredUs).toBeGreaterThan(told.askedUs);
  });

  it('stop after the most polls, and count the unanswered last ones', async () => {
    let queries = 0;
    const { tellings } = await storm(
      loadSpec({ ratePerSecond: 100, durationMs: 50, pollIntervalMs: 10, pollsMax: 2 }),
      (request) => request.answer('RESULT_UNKNOWN', { location: '/x' }),
      (request) => {
        queries += 1;
        if (queries <= 10) request.answer('NOT_FOUND_YET');
        else request.socket.destroy();
      },
      (polls) => polls === 10,
    );
    expect(tellings.filter(({ kind }) => kind === 'poll').length).toBe(10);
    expect(tellings.filter(({ kind }) => kind === 'final-poll').length).toBe(0);
    // Five requests, three tries each.
    expect(queries).toBe(10 + 15);
  });

  it('ask for a request whose answer was lost', async () => {
    const { tellings } = await storm(
      loadSpec({ ratePerSecond: 100, durationMs: 30, pollIntervalMs: 10 }),
      (request) => request.socket.destroy(),
      (request) => request.answer('ORDERED', { reservationId: RESERVATION, orderId: '5' }),
      (polls) => polls === 3,
    );
    expect(tellings.map(({ kind, arrival }) => `${kind} ${String(arrival)}`).sort()).toEqual(['final-poll 0', 'final-poll 1', 'final-poll 2', 'poll 0', 'poll 1', 'poll 2']);
  });
});

describe('tellings of first answers', () => {
  it('are acceptances, later answers to accepted requests, and what is odd; known refusals are in the columns only', async () => {
    const load = loadSpec({
      seed: 9, ratePerSecond: 1_000, durationMs: 1_000, pollsMax: 0, connections: 1,
      mix: { repeatShare: 0.2, sameUserShare: 0.1, conflictShare: 0.1, malformedShare: 0.1, distinctUsers: null },
    });
    const plan = expandArrivalPlan(load);
    const winner = requestIdAt(load, plan, 0);
    let winnersRequests = 0;
    const { tellings, columns } = await storm(
      load,
      (request) => {
        if (request.requestId === winner) winnersRequests += 1;
        if (request.body === '{"quantity":2}') request.answer('INVALID');
        else if (request.number === 1) request.answer('QUEUED', { reservationId: RESERVATION });
        else if (request.number === 500) request.socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops');
        else request.answer(request.number % 2 === 0 ? 'SOLD_OUT' : 'LIMITED');
      },
      (request) => request.answer('NOT_FOUND_YET'),
    );
    expect(winnersRequests).toBeGreaterThan(1);
    const odd = tellings.filter((told) => told.requestId !== winner);
    expect(odd.map(({ httpStatus, code }) => [httpStatus, code])).toEqual([[500, null]]);
    expect(tellings.length - odd.length).toBe(winnersRequests);
    expect(columns.outcome.every((outcome) => outcome === 2)).toBe(true);
  });
});
