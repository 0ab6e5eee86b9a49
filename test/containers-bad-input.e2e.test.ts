/** `--stack containers` where there is nothing to run them on: one clear error each, and auto goes on without. Against a stub of the engine. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';

import { freshFolder, startLab, type Finished } from './support/lab-process.js';

const folder = freshFolder('engine');
const sockets: Server[] = [];
afterEach(() => {
  for (const server of sockets.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function stub(answer: RequestListener): Promise<string> {
  const path = join(folder, `${String(sockets.length)}-${String(Date.now())}.sock`);
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  sockets.push(server);
  return `unix://${path}`;
}

function run(engine: string, ...args: string[]): Promise<Finished> {
  return startLab(['run', 'hot-sku', '--plain', '--report-dir', folder, ...args], { env: { DOCKER_HOST: engine } }).done;
}

/** As much of an engine as the look before the start asks for; `pull` says how a pull ends; null: never. */
function engineOf(apiVersion: string, pull: string | null): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').replace(/^\/v[0-9.]+/, '');
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (path.startsWith('/info')) json(200, { Name: hostname(), ServerVersion: '20.10.0', OperatingSystem: 'stub', DockerRootDir: '/nowhere', NCPU: 1, MemTotal: 1 });
    else if (path.startsWith('/version')) json(200, { Version: '20.10.0', ApiVersion: apiVersion });
    else if (path.startsWith('/images/create') && pull === null) response.writeHead(200).write(`${JSON.stringify({ status: 'Downloading' })}\n`);
    else if (path.startsWith('/images/create')) response.writeHead(200).end(`${JSON.stringify({ status: 'Downloading' })}\n${JSON.stringify({ error: pull, errorDetail: { message: pull } })}\n`);
    else json(404, { message: 'No such image' });
  };
}

it('an engine that is stopped', async () => {
  const { code, stderr } = await run(`unix://${join(folder, 'nobody.sock')}`, '--stack', 'containers');
  expect({ code, named: /no Docker engine answers: DOCKER_HOST is unix:.*nobody\.sock/.test(stderr), mend: stderr.includes('start Docker') || stderr.includes('start that engine') }).toEqual({ code: 2, named: true, mend: true });
});

it('an engine that is too old', async () => {
  const { code, stderr } = await run(await stub(engineOf('1.24', '')), '--stack', 'containers');
  expect({ code, said: stderr.includes('speaks API 1.24') }).toEqual({ code: 2, said: true });
});

it('a disk that is full in the middle of a pull', async () => {
  const { code, stderr } = await run(await stub(engineOf('1.41', 'write /data/layer: no space left on device')), '--stack', 'containers');
  expect({ code, said: stderr.includes('cannot be pulled, the disk of the engine is full'), mend: stderr.includes('docker system prune') }).toEqual({ code: 2, said: true, mend: true });
});

it('auto goes on with local servers, and says why', async () => {
  const started = startLab(['run', 'hot-sku', '--plain', '--report-dir', folder, '--stack', 'auto'], { env: { DOCKER_HOST: await stub(engineOf('1.24', '')) } });
  await started.says(/local servers, since the Docker engine .* speaks API 1\.24/);
  started.child.kill('SIGINT');
  expect((await started.done).code).toBe(105);
});

it('auto goes on without nothing that was asked for: an image by its name, roles in containers', async () => {
  const typo = await run(await stub(engineOf('1.41', 'manifest unknown')), '--stack', 'auto', '--image', 'redis=redis:typo');
  expect({ code: typo.code, said: typo.stderr.includes('there is no image redis:typo'), isLocal: typo.stderr.includes('local servers') }).toEqual({ code: 2, said: true, isLocal: false });
  const roles = await run(`unix://${join(folder, 'nobody.sock')}`, '--stack', 'auto', '--roles', 'containers');
  expect({ code: roles.code, said: roles.stderr.includes('no Docker engine answers'), isLocal: roles.stderr.includes('local servers') }).toEqual({ code: 2, said: true, isLocal: false });
});

it('an image of the roles that is not there is told before any server starts', async () => {
  const { code, stderr } = await run(await stub(engineOf('1.41', 'manifest unknown')), '--stack', 'containers', '--roles', 'containers');
  expect({ code, said: stderr.includes('there is no image seckill-lab/roles:latest'), pulled: stderr.includes('pulling') }).toEqual({ code: 2, said: true, pulled: false });
});

it('Ctrl-C ends a pull that goes on for ever', async () => {
  const started = startLab(['run', 'hot-sku', '--plain', '--report-dir', folder, '--stack', 'containers'], { env: { DOCKER_HOST: await stub(engineOf('1.41', null)) } });
  await started.says(/pulling redis/);
  started.child.kill('SIGINT');
  expect((await started.done).code).toBe(105);
});

it('a fault that touches files of servers is refused in containers before anything starts', async () => {
  const { code, stderr } = await run(`unix://${join(folder, 'nobody.sock')}`, '--stack', 'containers', '--fault', 'redis-tail-loss@t=1s');
  expect({ code, said: stderr.includes('a fault of this run needs servers with their data and logs as files'), mend: stderr.includes('--stack local') }).toEqual({ code: 254, said: true, mend: true });
});

it('a provider, an image and a home of roles that do not exist are bad usage', async () => {
  expect((await run('', '--stack', 'moon')).code).toBe(254);
  expect((await run('', '--stack', 'containers', '--image', 'mysql=mysql:8')).code).toBe(254);
  expect((await run('', '--roles', 'containers')).code).toBe(254);
});
