/** The probe counts answers, never sends a request id twice, claims no latency, and says what is wrong with its options or its target. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { CommandIo } from './command-io.js';
import { PROBE_LABEL, runProbe } from './probe.js';

let server: Server;
let base: string;
let ids: (string | undefined)[];
let out: string;
let err: string;
const io: CommandIo = { stdout: (text) => { out += text; }, stderr: (text) => { err += text; } };

beforeEach(async () => {
  ids = [];
  out = '';
  err = '';
  server = createServer((request, response) => {
    ids.push(request.headers['idempotency-key']?.toString());
    request.resume();
    response.writeHead(ids.length <= 3 ? 202 : 410, { 'content-length': '2' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('probe', () => {
  it('posts reservations with new ids and counts the answers by status', async () => {
    expect(await runProbe({ url: `${base}/v1/activities/1/skus/2/reservations`, connections: '4', duration: '300ms', json: true }, io)).toBe(0);
    const result = JSON.parse(out) as { label: string; answered: number; byStatus: Record<string, number> };
    expect(result.label).toBe(PROBE_LABEL);
    expect(result.byStatus['202']).toBe(3);
    expect(result.answered).toBe((result.byStatus['410'] ?? 0) + 3);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => id !== undefined && /^[A-Za-z0-9_.:-]{1,64}$/.test(id))).toBe(true);
    expect(out).not.toMatch(/latency(?! claim)|p99/);
  });

  it('asks any other address with GET and prints its label first', async () => {
    expect(await runProbe({ url: `${base}/healthz`, connections: '2', duration: '200ms' }, io)).toBe(0);
    expect(out.startsWith(PROBE_LABEL)).toBe(true);
    expect(new Set(ids)).toEqual(new Set([undefined]));
  });

  it('reports every bad option at once, as usage', async () => {
    expect(await runProbe({ url: 'ftp://x', connections: '0', duration: 'soon' }, io)).toBe(254);
    for (const flag of ['--url', '--connections', '--duration']) expect(err).toContain(flag);
  });

  it('is unusable when nothing answers', async () => {
    server.close();
    expect(await runProbe({ url: base, connections: '1', duration: '200ms' }, io)).toBe(2);
    expect(err).toContain('gave no answer');
  });
});
