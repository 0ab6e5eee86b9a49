/** Health and metrics of a role over real HTTP. */
import { expect, test } from 'vitest';

import { createRoleMetrics } from './role-metrics.js';
import { startRoleServer } from './role-server.js';

test('healthz tells ready, every problem, and a check that fails; metrics are those of the role; all else is 404', async () => {
  let health: () => Promise<readonly string[]> = () => Promise.resolve([]);
  const metrics = createRoleMetrics('scanner', 'scanner-1');
  metrics.counter('things_total', 'Things').add(2);
  const server = await startRoleServer({ host: '127.0.0.1', port: 0 }, { health: () => health(), metrics });
  const ask = async (path: string, method = 'GET'): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${String(server.address.port)}${path}`, { method });
    return [response.status, await response.text()];
  };
  try {
    expect(await ask('/healthz')).toEqual([200, '{"status":"ok"}']);
    health = () => Promise.resolve(['no Redis', 'no Kafka']);
    expect(await ask('/healthz')).toEqual([503, '{"status":"not ready","problems":["no Redis","no Kafka"]}']);
    health = () => Promise.reject(new Error('bug'));
    expect((await ask('/healthz'))[0]).toBe(503);
    expect((await ask('/metrics'))[1]).toContain('things_total{role="scanner",instance="scanner-1"} 2');
    expect((await ask('/other'))[0]).toBe(404);
    expect((await ask('/healthz', 'POST'))[0]).toBe(404);
  } finally {
    await server.close();
  }
});

test('a port in use is a rejection', async () => {
  const options = { health: () => Promise.resolve([]), metrics: createRoleMetrics('scanner', 'scanner-1') };
  const first = await startRoleServer({ host: '127.0.0.1', port: 0 }, options);
  await expect(startRoleServer(first.address, options)).rejects.toThrow(/EADDRINUSE/);
  await first.close();
});
