/** The http transport against gateways that stall, refuse, die, come back, or never answer: the schedule is kept and every arrival is accounted for. */
import { afterEach, describe, expect, it, vi } from 'vitest';

import { ARRIVAL_OUTCOMES, outcomeName, reservationAt, type HistoryColumns } from '../facts/history.js';
import { judgeLoad, percentileOf } from '../facts/load-honesty.js';
import { HttpStorm } from './http-storm.js';
import { monoNowUs } from './mono-clock.js';
import { blow, loadSpec } from './storm-run.test-support.js';
import { StubGateway, refusingAddress, type StubRequest } from './stub-gateway.test-support.js';

const stubs: StubGateway[] = [];

async function gateway(handle: (request: StubRequest) => void, port = 0): Promise<StubGateway> {
  const stub = await StubGateway.start(handle, port);
  stubs.push(stub);
  return stub;
}

afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.kill()));
});

const soldOut = (request: StubRequest): void => request.answer('SOLD_OUT');

function outcomes(columns: HistoryColumns): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let index = 0; index < columns.length; index += 1) counts[outcomeName(columns, index)] = (counts[outcomeName(columns, index)] ?? 0) + 1;
  return counts;
}

function latencies(columns: HistoryColumns): Float64Array {
  return columns.answeredUs.map((answered, index) => answered - columns.intendedUs[index]!).sort();
}

// Storms last as long as their plan; a busy machine may need longer to answer them.
vi.setConfig({ testTimeout: 30_000 });

describe('http storm', () => {
  it('keeps its schedule while the server is frozen, and latency counts from the intended time', async () => {
    let frozen: StubRequest[] | null = null;
    let thawedUs = NaN;
    const stub = await gateway((request) => (frozen === null ? soldOut(request) : frozen.push(request)));
    const load = loadSpec({ ratePerSecond: 2_000, durationMs: 2_500, connections: 3_000 });
    const { columns, facts } = await blow(load, (parts) => new HttpStorm([stub.address], parts), {
      started: () => {
        setTimeout(() => {
          frozen = [];
          // From the beginning of the freeze: one that began late lasts as long.
          setTimeout(() => {
            thawedUs = monoNowUs();
            for (const request of frozen ?? []) soldOut(request);
            frozen = null;
          }, 1_000);
        }, 500);
      },
    });
    expect(facts).toMatchObject({ scheduled: 5_000, issued: 5_000, answered: 5_000 });
    // Closed-loop clients would have stopped here: 1,000 were due in the first half of the freeze, and nothing was answered.
    const sentBeforeThaw = columns.sentUs.filter((sent) => sent < thawedUs).length;
    expect(sentBeforeThaw).toBeGreaterThan(2_000);
    expect(percentileOf(latencies(columns), 0.99)).toBeGreaterThan(900_000);
    expect(percentileOf(latencies(columns), 0.5)).toBeLessThan(900_000);
  });

  it('counts a refusal as not sent, and never knocks more often than the plan says', async () => {
    const stub = await gateway(soldOut);
    let storm: HttpStorm | null = null;
    const { columns, facts } = await blow(loadSpec({ ratePerSecond: 5_000, connections: 200 }), (parts) => (storm = new HttpStorm([stub.address], parts)), {
      started: async () => {
        await stub.kill();
        // The other end of each connection hears of it in the next turn.
        for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      },
    });
    expect(outcomes(columns)).toEqual({ 'not-sent': 2_500 });
    expect(columns.sentUs.every(Number.isNaN)).toBe(true);
    expect(storm!.attempts).toBeLessThanOrEqual(2_500);
    // Knocking was issuing; but without one answer the run says nothing.
    expect(facts).toMatchObject({ issued: 2_500, notSent: 2_500, dropped: 0 });
    expect(judgeLoad(facts, null)).toMatchObject({ outcome: 'void', reasons: ['not one request was answered'] });
  });

  it('does not begin when no gateway accepts a connection', async () => {
    const address = await refusingAddress();
    await expect(blow(loadSpec(), (parts) => new HttpStorm([address], parts))).rejects.toThrow('no gateway accepts a connection');
  });

  it('sends to the gateways that are there when one is dead from the beginning', async () => {
    const [dead, stub] = [await refusingAddress(), await gateway(soldOut)];
    const { columns } = await blow(loadSpec(), (parts) => new HttpStorm([dead, stub.address], parts));
    expect(outcomes(columns)).toEqual({ answered: 500 });
  });

  it('calls what a dying gateway held indeterminate, and finds it again when it is back', async () => {
    const held: StubRequest[] = [];
    let second: StubGateway | null = null;
    let seen: HistoryColumns | null = null;
    const first = await gateway((request) => {
      if (request.number <= 100) return soldOut(request);
      if (held.push(request) === 50) void first.kill().then(comeBack);
    });
    /** When it has been missed. */
    const comeBack = async (): Promise<void> => {
      await vi.waitFor(() => { expect(outcomes(seen!)['not-sent']).toBeGreaterThan(0); }, { timeout: 10_000, interval: 5 });
      second = await gateway(soldOut, first.address.port);
    };
    const { columns, facts } = await blow(loadSpec({ ratePerSecond: 500, durationMs: 2_000 }), (parts) => {
      seen = parts.recorder.columns;
      return new HttpStorm([first.address], parts);
    });
    const counts = outcomes(columns);
    // All of the first gateway's unanswered ones, and nobody else's: those written before it died and those whose write crossed its death.
    expect(counts['indeterminate']).toBeGreaterThanOrEqual(held.length);
    expect(counts['indeterminate']).toBeLessThan(held.length + 64);
    expect(counts['not-sent']).toBeGreaterThan(0);
    expect(counts['answered']).toBe(100 + second!.requests);
    expect(facts.issued).toBe(facts.scheduled);
    expect(outcomeName(columns, facts.scheduled - 1)).toBe('answered');
  });

  it('calls a request without an answer indeterminate after its deadline, and goes on with another connection', async () => {
    const stub = await gateway((request) => {
      if (request.number % 10 !== 0) soldOut(request);
    });
    // Fewer connections than requests without an answer, and never all of them taken up: whoever does get an answer gets it long before the deadline, also on a slow machine.
    const { columns } = await blow(loadSpec({ ratePerSecond: 250, durationMs: 2_000, requestTimeoutMs: 1_000, connections: 40 }), (parts) => new HttpStorm([stub.address], parts));
    expect(outcomes(columns)).toEqual({ answered: 450, indeterminate: 50 });
    for (let index = 0; index < columns.length; index += 1) {
      if (outcomeName(columns, index) === 'indeterminate') expect([columns.sentUs[index]! > 0, columns.answeredUs[index]]).toEqual([true, NaN]);
    }
  });

  it('calls a request indeterminate when the connection closes after the write, or the answer is none', async () => {
    const stub = await gateway((request) => {
      if (request.number % 5 === 0) request.socket.destroy();
      else if (request.number % 5 === 1) request.socket.write('SSH-2.0-nonsense\r\n\r\n');
      else if (request.number % 5 === 2) request.socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\n{"code":"QUEUED"');
      else soldOut(request);
    });
    const { columns } = await blow(loadSpec(), (parts) => new HttpStorm([stub.address], parts));
    expect(outcomes(columns)).toEqual({ answered: 200, indeterminate: 300 });
  });

  it('reads answers in pieces, and opens a new connection after one that closes', async () => {
    const stub = await gateway((request) => {
      if (request.number % 50 === 0) return void request.socket.end('HTTP/1.1 410 Gone\r\nconnection: close\r\ncontent-length: 19\r\n\r\n{"code":"SOLD_OUT"}');
      request.socket.write('HTTP/1.1 202 Acc');
      setImmediate(() => request.socket.write('epted\r\nContent-Length: 72\r\n\r\n{"code":"QUEUED","reservationId":"0189'));
      setImmediate(() => setImmediate(() => request.socket.write('0000-0000-7000-8000-0000000000ff"}')));
    });
    const load = loadSpec({ connections: 32 });
    const { columns } = await blow(load, (parts) => new HttpStorm([stub.address], parts));
    expect(outcomes(columns)).toEqual({ answered: 500 });
    expect(columns.httpStatus.filter((status) => status === 410).length).toBe(10);
    expect(new Set([...columns.httpStatus.keys()].map((index) => reservationAt(columns, index)))).toEqual(new Set([null, '01890000-0000-7000-8000-0000000000ff']));
  });

  it('drops what nobody could send before its deadline, and the run is void', async () => {
    const stub = await gateway(() => undefined);
    const { columns, facts } = await blow(loadSpec({ requestTimeoutMs: 200, connections: 8 }), (parts) => new HttpStorm([stub.address], parts));
    const counts = outcomes(columns);
    expect(counts['dropped']).toBeGreaterThan(400);
    expect((counts['dropped'] ?? 0) + (counts['indeterminate'] ?? 0)).toBe(500);
    expect(columns.outcome.every((outcome, index) => ARRIVAL_OUTCOMES[outcome] !== 'dropped' || Number.isNaN(columns.sentUs[index]))).toBe(true);
    expect(judgeLoad(facts, null).reasons[0]).toContain('generator saturated');
  });

  it('issues 20,000 in a second at depth 1', async () => {
    const stub = await gateway(soldOut);
    const { facts } = await blow(loadSpec({ ratePerSecond: 20_000, durationMs: 1_000, connections: 512, requestTimeoutMs: 30_000 }), (parts) => new HttpStorm([stub.address], parts));
    expect(facts).toMatchObject({ scheduled: 20_000, issued: 20_000, answered: 20_000 });
  });
});
