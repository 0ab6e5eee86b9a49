/** As much of a Docker engine as a test wants, behind a socket of its own; what it was asked is written down. One per test file: the client keeps its first. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Method and path without the version of the API, such as `GET /images/redis:7/json`; a query follows its `?`. */
export interface StubRequest {
  readonly what: string;
  readonly body: string;
}

export type StubAnswer = (request: StubRequest, response: ServerResponse) => void;

export interface StubEngine {
  readonly dockerHost: string;
  readonly requests: StubRequest[];
  /** What `/info` says besides the usual. */
  info: Readonly<Record<string, unknown>>;
  /** The first that matches answers; nobody: 404. */
  answers: readonly (readonly [RegExp, StubAnswer])[];
  /** Requests so far, in words. */
  asked(pattern: RegExp): string[];
  close(): void;
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** An image that is there. */
export function imageAnswer(id: string, labels: Readonly<Record<string, string>> | null = null, digests: readonly string[] = []): StubAnswer {
  return (_, response) => {
    json(response, 200, { Id: id, RepoDigests: digests, Config: { Labels: labels } });
  };
}

/** Also puts its address into DOCKER_HOST. */
export async function startStubEngine(): Promise<StubEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'seckill-stub-'));
  const socket = join(folder, 'engine.sock');
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const asked: StubRequest = { what: `${request.method ?? ''} ${(request.url ?? '').replace(/^\/v[0-9.]+/, '')}`, body };
      engine.requests.push(asked);
      if (asked.what === 'GET /info') json(response, 200, { Name: hostname(), ServerVersion: '20.10.0', OperatingSystem: 'stub', DockerRootDir: '/nowhere', NCPU: 1, MemTotal: 1, ...engine.info });
      else if (asked.what === 'GET /version') json(response, 200, { Version: '20.10.0', ApiVersion: '1.41' });
      else (engine.answers.find(([pattern]) => pattern.test(asked.what))?.[1] ?? nobody)(asked, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const engine: StubEngine = {
    dockerHost: `unix://${socket}`,
    requests: [],
    info: {},
    answers: [],
    asked: (pattern) => engine.requests.map(({ what }) => what).filter((what) => pattern.test(what)),
    close: () => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  process.env['DOCKER_HOST'] = engine.dockerHost;
  return engine;
}

const nobody: StubAnswer = (_, response) => {
  json(response, 404, { message: 'No such thing' });
};
