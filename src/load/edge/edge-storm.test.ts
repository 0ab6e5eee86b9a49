/** The edge transport: every arrival is in exactly one batch and has exactly one outcome, whatever becomes of the batches. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { userIdAt, expandArrivalPlan } from '../../facts/arrival-plan.js';
import { outcomeName, type HistoryColumns } from '../../facts/history.js';
import { ANSWER_CODES_BY_NUMBER } from '../../domain/reason-codes.js';
import type { HostPort } from '../../domain/role-config.js';
import { DEFAULT_MIX } from '../../facts/load-spec.js';
import { blow, loadSpec } from '../storm-run.test-support.js';
import { refusingAddress } from '../stub-gateway.test-support.js';
import { EdgeStorm } from './edge-storm.js';

interface Item {
  readonly requestId: string;
  readonly userId: string;
  readonly [field: string]: unknown;
}
type Reply = (items: readonly Item[], number: number, response: ServerResponse, request: IncomingMessage) => string | Buffer | null;

const servers: Server[] = [];
vi.setConfig({ testTimeout: 30_000 });

/** Answers what `reply` gives; null: it has seen to the response itself. */
async function gateway(reply: Reply, binary = false): Promise<HostPort> {
  let number = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'GET') {
        response.statusCode = 404;
        response.end('{"code":"NOT_FOUND_YET"}');
        return;
      }
      number += 1;
      const body = Buffer.concat(chunks);
      const items = binary ? Array.from({ length: body.length / 32 }, (_, at): Item => ({ userId: String(body.readBigUInt64BE(at * 32)), requestId: body.toString('latin1', at * 32 + 9, at * 32 + 9 + (body[at * 32 + 8] ?? 0)) })) : (JSON.parse(body.toString()) as Item[]);
      const answer = reply(items, number, response, request);
      if (answer !== null) response.end(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const soldOut = (items: readonly Item[]): string => `[${items.map(({ requestId }) => `{"status":410,"code":"SOLD_OUT","requestId":"${requestId}"}`).join(',')}]`;

function outcomes(columns: HistoryColumns): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let index = 0; index < columns.length; index += 1) counts[outcomeName(columns, index)] = (counts[outcomeName(columns, index)] ?? 0) + 1;
  return counts;
}

const LOAD = loadSpec({ transport: 'edge', ratePerSecond: 20_000, durationMs: 500, connections: 16, requestTimeoutMs: 10_000 });

describe('edge storm', () => {
  it('carries every arrival once, with its own ids and payload, in batches of at most 512', async () => {
    const load = { ...LOAD, mix: { ...DEFAULT_MIX, repeatShare: 0.1, conflictShare: 0.05, malformedShare: 0.05 } };
    const seen: Item[] = [];
    const sizes: number[] = [];
    const address = await gateway((items) => {
      seen.push(...items);
      sizes.push(items.length);
      return `[${items.map(({ requestId, quantity }) => (quantity === 2 ? '{"status":400,"code":"INVALID","problems":["quantity must be 1"]}' : `{"status":410,"code":"SOLD_OUT","requestId":"${requestId}"}`)).join(',')}]`;
    });
    const { columns, facts, tellings } = await blow(load, (parts) => new EdgeStorm([address], parts));
    const plan = expandArrivalPlan(load);
    expect(facts).toMatchObject({ scheduled: 10_000, issued: 10_000, answered: 10_000, dropped: 0, indeterminate: 0 });
    // Order of arrival at the server is that of the plan as far as one connection can say, so the sets are compared.
    const expected = Array.from({ length: plan.length }, (_, index) => `r3-${String(plan.requestOf[index])} ${userIdAt(plan, index)}`).sort();
    expect(seen.map(({ requestId, userId }) => `${requestId} ${userId}`).sort()).toEqual(expected);
    expect(seen.filter(({ clientTag }) => clientTag === 'other')).toHaveLength([...plan.kind].filter((kind) => kind === 3).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(512);
    expect(sizes.length).toBeLessThan(2_000);
    const malformed = [...plan.kind].filter((kind) => kind === 4).length;
    expect([...columns.answerCode].filter((code) => ANSWER_CODES_BY_NUMBER[code] === 'INVALID')).toHaveLength(malformed);
    expect(tellings).toHaveLength(0);
  });

  it('a lost batch is indeterminate for each of its customers, and a batch without an answer ends by its deadline', async () => {
    let [lost, silent] = [0, 0];
    const address = await gateway((items, number, _response, request) => {
      if (number % 10 === 3) {
        lost += items.length;
        request.socket.destroy();
        return null;
      }
      if (number === 8) {
        silent = items.length;
        return null;
      }
      return soldOut(items);
    });
    const { columns, facts } = await blow({ ...LOAD, requestTimeoutMs: 2_000 }, (parts) => new EdgeStorm([address], parts));
    expect(facts.issued).toBe(10_000);
    expect(lost).toBeGreaterThan(0);
    expect(outcomes(columns)).toEqual({ answered: 10_000 - lost - silent, indeterminate: lost + silent });
  });

  it('a batch that is refused whole is what each of its customers hears', async () => {
    let refused = 0;
    const address = await gateway((items, number, response) => {
      if (number % 2 === 0) return soldOut(items);
      refused += items.length;
      response.statusCode = 503;
      return '{"code":"RESULT_UNKNOWN","requestId":null}';
    });
    const { columns, facts } = await blow(LOAD, (parts) => new EdgeStorm([address], parts));
    expect(facts).toMatchObject({ issued: 10_000, answered: 10_000 });
    expect([...columns.answerCode].filter((code) => ANSWER_CODES_BY_NUMBER[code] === 'RESULT_UNKNOWN')).toHaveLength(refused);
    expect([...columns.httpStatus].filter((status) => status === 503)).toHaveLength(refused);
  });

  it('nobody listens any more: not sent; all connections busy for too long: dropped', async () => {
    const gone = await gateway(soldOut);
    const { columns } = await blow(LOAD, (parts) => new EdgeStorm([gone], parts), {
      started: () => {
        for (const server of servers) {
          server.closeAllConnections();
          server.close();
        }
      },
    });
    expect(Object.keys(outcomes(columns)).every((name) => name === 'not-sent' || name === 'indeterminate')).toBe(true);
    expect(outcomes(columns)['not-sent']).toBeGreaterThan(9_000);
    const stuck = await gateway(() => null);
    const few = await blow({ ...LOAD, connections: 2, requestTimeoutMs: 200 }, (parts) => new EdgeStorm([stuck], parts));
    expect(few.facts.answered).toBe(0);
    expect(outcomes(few.columns)['indeterminate']! + outcomes(few.columns)['dropped']! + (outcomes(few.columns)['not-sent'] ?? 0)).toBe(10_000);
  });

  it('refuses to begin where nobody listens', async () => {
    const address = await refusingAddress();
    await expect(blow(LOAD, (parts) => new EdgeStorm([address], parts))).rejects.toThrow('no gateway accepts');
  });

  it('in binary the same arrivals', async () => {
    const load = { ...LOAD, edgeForm: 'binary' as const, mix: { ...DEFAULT_MIX, repeatShare: 0.1 } };
    const seen: string[] = [];
    const address = await gateway((items) => {
      seen.push(...items.map(({ requestId, userId }) => `${requestId} ${userId}`));
      const bytes = Buffer.alloc(items.length * 32);
      for (let item = 0; item < items.length; item += 1) {
        bytes.writeUInt16BE(410, item * 32);
        bytes[item * 32 + 2] = ANSWER_CODES_BY_NUMBER.indexOf('SOLD_OUT');
      }
      return bytes;
    }, true);
    const { columns, facts } = await blow(load, (parts) => new EdgeStorm([address], parts));
    const plan = expandArrivalPlan(load);
    expect(facts).toMatchObject({ issued: 10_000, answered: 10_000 });
    expect(seen.sort()).toEqual(Array.from({ length: plan.length }, (_, index) => `r3-${String(plan.requestOf[index])} ${userIdAt(plan, index)}`).sort());
    expect([...columns.httpStatus].every((status) => status === 410)).toBe(true);
  });

  it.each(['json', 'binary'] as const)('%s: a rehearsal counts the answers that can be read, and the storm is whole afterwards', async (edgeForm) => {
    const sizes: number[] = [];
    const address = await gateway((items) => {
      sizes.push(items.length);
      if (edgeForm === 'json') return soldOut(items);
      const answer = Buffer.alloc(32);
      answer.writeUInt16BE(410);
      answer[2] = ANSWER_CODES_BY_NUMBER.indexOf('SOLD_OUT');
      return Buffer.alloc(items.length * 32, answer);
    }, edgeForm === 'binary');
    let rehearsed = 0;
    const { facts } = await blow({ ...LOAD, edgeForm }, (parts) => {
      const storm = new EdgeStorm([address], parts);
      return Object.assign(storm, {
        open: async () => {
          const connected = await EdgeStorm.prototype.open.call(storm);
          rehearsed = await storm.rehearse(100);
          return connected;
        },
      });
    });
    expect(sizes.slice(0, 7)).toEqual([16, 16, 16, 16, 16, 16, 16]);
    expect(rehearsed).toBe(112);
    expect(facts).toMatchObject({ issued: 10_000, answered: 10_000 });
  });
});
