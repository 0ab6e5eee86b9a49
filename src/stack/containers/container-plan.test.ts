// What containers are told, and where the servers find each other.
import { expect, it } from 'vitest';

import { planPorts, portsNeeded } from '../local/port-plan.js';
import { planProxies } from '../local/toxiproxy-server.js';
import { addressBook, environmentName, planContainers, proxyPlaces } from './container-plan.js';

const ports = planPorts(Array.from({ length: portsNeeded(2) }, (_, index) => 20_000 + index), 2);
const plans = planContainers(ports, 'secret');

it('names settings as the image of Kafka reads them back', () => {
  expect(environmentName('log.dirs')).toBe('KAFKA_LOG_DIRS');
  expect(environmentName('a_b.c-d')).toBe('KAFKA_A__B_C___D');
});

it('publishes no port twice, and every way in', () => {
  const published = plans.flatMap((plan) => plan.ports.map(({ onHost }) => onHost));
  expect(new Set(published).size).toBe(published.length);
  for (const lane of ports.lanes) for (const port of Object.values(lane.proxies)) expect(published).toContain(port);
  expect(published).toEqual(expect.arrayContaining([ports.redisPrimary, ports.redisReplica, ports.postgres, ports.kafkaDirect, ports.toxiproxyApi]));
});

it('translates what this host finds into what the servers find, and nothing else', () => {
  const inside = addressBook(ports);
  expect(inside(ports.redisReplica)).toEqual({ host: 'redis-replica', port: 6379 });
  expect(inside(ports.postgres)).toEqual({ host: 'postgres', port: 5432 });
  expect(inside(ports.kafkaDirect)).toEqual({ host: 'kafka', port: ports.kafkaDirect });
  expect(inside(ports.replicationProxy)).toEqual({ host: 'toxiproxy', port: ports.replicationProxy });
  expect(inside(1)).toBeNull();
});

it('sends each proxy to its server by name, Kafka’s to the listener of its role', () => {
  const proxies = planProxies(ports, proxyPlaces(ports));
  expect(proxies.every(({ listen }) => listen.startsWith('0.0.0.0:'))).toBe(true);
  expect(proxies.find(({ name }) => name === 'replication')?.upstream).toBe('redis-primary:6379');
  expect(proxies.find(({ name }) => name === 'L1-gateway-kafka')?.upstream).toBe(`kafka:${String(ports.lanes[1]?.kafkaListeners.get('gateway'))}`);
});
