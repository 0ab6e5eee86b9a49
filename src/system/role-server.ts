/**
 * `/healthz` and `/metrics` of a role process: its own small server for every role but the gateway, which serves both beside its API.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { HostPort } from '../domain/role-config.js';
import type { RoleMetrics } from './role-metrics.js';

export interface HealthAndMetrics {
  /** Problems; empty: ready. */
  readonly health: () => Promise<readonly string[]>;
  readonly metrics: RoleMetrics;
}

export interface RoleServer {
  /** The address in use, also when port 0 was asked for. */
  readonly address: HostPort;
  close(): Promise<void>;
}

/** Longer than every bounded probe behind it; a health check that hangs is itself the finding. */
const HEALTH_TIMEOUT_MS = 2_000;

async function problemsWithin(health: () => Promise<readonly string[]>, timeoutMs: number): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => {
      resolve([`the health check did not end within ${String(timeoutMs)} ms`]);
    }, timeoutMs);
  });
  try {
    return await Promise.race([health(), late]);
  } catch (error) {
    return [`the health check failed: ${String(error)}`];
  } finally {
    clearTimeout(timer);
  }
}

function write(response: ServerResponse, status: number, contentType: string, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': body.length });
  response.end(body);
}

/** Answers `GET /healthz` (200 `{"status":"ok"}`, or 503 with every problem) and `GET /metrics`; false: not one of them, nothing written. */
export async function answerHealthOrMetrics(request: IncomingMessage, response: ServerResponse, { health, metrics }: HealthAndMetrics): Promise<boolean> {
  if (request.method !== 'GET') return false;
  if (request.url === '/healthz') {
    const problems = await problemsWithin(health, HEALTH_TIMEOUT_MS);
    const body = problems.length === 0 ? { status: 'ok' } : { status: 'not ready', problems };
    write(response, problems.length === 0 ? 200 : 503, 'application/json', JSON.stringify(body));
    return true;
  }
  if (request.url === '/metrics') {
    write(response, 200, metrics.contentType, await metrics.text());
    return true;
  }
  return false;
}

/** Listens with a backlog that a storm's first second fits into; rejects with Node's error when the port cannot be had. */
export function listen(server: Server, { host, port }: HostPort): Promise<HostPort> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 4_096 }, () => {
      server.off('error', reject);
      resolve({ host, port: (server.address() as AddressInfo).port });
    });
  });
}

/** Takes no more connections; answers in hand may go out for `timeoutMs`, then everything is cut. */
export function shutServer(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
    }, timeoutMs);
    // A kept-alive connection becomes idle only when its answer has gone out, and Node then waits for the client to close it.
    const sweep = setInterval(() => {
      server.closeIdleConnections();
    }, 25);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** The server of a role without an API of its own. */
export async function startRoleServer(address: HostPort, options: HealthAndMetrics): Promise<RoleServer> {
  const server = createServer((request, response) => {
    request.resume();
    answerHealthOrMetrics(request, response, options).then(
      (answered) => {
        if (!answered) write(response, 404, 'text/plain', 'not found\n');
      },
      () => {
        response.destroy();
      },
    );
  });
  return { address: await listen(server, address), close: () => shutServer(server, 500) };
}
