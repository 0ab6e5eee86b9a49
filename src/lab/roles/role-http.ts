/** The lab's questions to a role's own HTTP endpoints, `/healthz` and `/metrics`. */
import { request } from 'node:http';

import type { HostPort } from '../../domain/role-config.js';

export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

/** null: no answer inside `timeoutMs`, whatever the reason. A connection of its own, so that no idle one holds a stopping role. */
export function askRole(address: HostPort, path: string, timeoutMs: number): Promise<HttpReply | null> {
  return new Promise((resolve) => {
    const asked = request({ host: address.host, port: address.port, path, agent: false, signal: AbortSignal.timeout(timeoutMs), headers: { connection: 'close' } }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (body += chunk));
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, body });
      });
      answer.on('error', () => {
        resolve(null);
      });
    });
    asked.on('error', () => {
      resolve(null);
    });
    asked.end();
  });
}

/** Prometheus text → `name{labels}` → value. Lines that are no sample are passed over. */
export function parseMetrics(text: string): Record<string, number> {
  const samples: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const match = /^([A-Za-z_:][A-Za-z0-9_:]*(?:\{.*\})?) ([^ ]+)(?: -?[0-9]+)?$/.exec(line);
    if (match === null) continue;
    const [, series = '', raw = ''] = match;
    const value = raw === '+Inf' ? Number.POSITIVE_INFINITY : raw === '-Inf' ? Number.NEGATIVE_INFINITY : Number(raw);
    if (!Number.isNaN(value)) samples[series] = value;
  }
  return samples;
}
