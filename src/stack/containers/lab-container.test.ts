// What the engine is really asked for when a server starts, through testcontainers, by a stub of the engine.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

import { startContainer } from './lab-container.js';
import { json, startStubEngine, type StubEngine } from './stub-engine.test-support.js';

const ID = `sha256:${'ab'.repeat(32)}`;
let engine: StubEngine;

beforeAll(async () => {
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
  process.env['TESTCONTAINERS_HOST_OVERRIDE'] = '127.0.0.1';
  engine = await startStubEngine();
});
afterEach(() => {
  delete process.env['TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX'];
  engine.requests.length = 0;
});
afterAll(() => {
  engine.close();
});

interface CreateBody {
  readonly Image: string;
  readonly HostConfig: { readonly PortBindings: Record<string, readonly { HostIp?: string; HostPort?: string }[]>; readonly NetworkMode: string; readonly DnsOptions: readonly string[]; readonly Sysctls: Record<string, string> };
}

async function created(): Promise<CreateBody> {
  engine.answers = [
    [/^GET \/images\/sha256/, (_, response) => { json(response, 200, { Id: ID }); }],
    [/^POST \/containers\/create/, (_, response) => { json(response, 201, { Id: 'c1' }); }],
    [/^POST \/containers\/c1\/start/, (_, response) => { response.writeHead(204).end(); }],
    [/^GET \/containers\/c1\/json/, (_, response) => {
      json(response, 200, {
        Id: 'c1', Name: '/c1', Config: { Hostname: 'c1', Labels: {}, Image: ID }, State: { Status: 'running', Running: true, StartedAt: '', FinishedAt: '' },
        HostConfig: { PortBindings: { '6379/tcp': [{ HostIp: '127.0.0.1', HostPort: '20001' }] } }, NetworkSettings: { Ports: { '6379/tcp': [{ HostIp: '127.0.0.1', HostPort: '20001' }] }, Networks: {} },
      });
    }],
  ];
  await startContainer({ image: 'redis:7.0.15', imageId: ID, name: 'n', alias: 'redis-primary', network: 'net', labels: {}, command: [], environment: {}, ports: [{ inside: 6379, onHost: 20_001 }], endsWithSession: false });
  return JSON.parse(engine.requests.find(({ what }) => what.startsWith('POST /containers/create'))?.body ?? '{}') as CreateBody;
}

it('ports are published on 127.0.0.1 alone', async () => {
  const { HostConfig } = await created();
  expect(HostConfig.PortBindings).toEqual({ '6379/tcp': [{ HostIp: '127.0.0.1', HostPort: '20001' }] });
  expect(HostConfig.NetworkMode).toBe('net');
});

it('nobody waits long for a server that is gone, neither for its name nor for its address', async () => {
  const { HostConfig } = await created();
  expect(HostConfig.DnsOptions).toEqual(['timeout:1', 'attempts:2']);
  expect(HostConfig.Sysctls).toEqual({ 'net.ipv4.tcp_syn_retries': '1' });
});

it.each([undefined, 'mirror.example:5000/hub', 'mirror'])('it runs the very image that was looked at, with the prefix %s too, and pulls nothing', async (prefix) => {
  if (prefix !== undefined) process.env['TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX'] = prefix;
  expect((await created()).Image).toBe(ID);
  expect(engine.asked(/images\/create/)).toEqual([]);
});
