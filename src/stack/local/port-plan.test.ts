// The plan of ports: enough, all different, one per purpose.
import { expect, it } from 'vitest';

import { KAFKA_ROLES, LINK_NAMES, planPorts, portsNeeded } from './port-plan.js';
import { planProxies } from './toxiproxy-server.js';
import { kafkaListeners, kafkaProperties } from './kafka-server.js';

const block = (count: number): number[] => Array.from({ length: count }, (_, index) => 20_000 + index);

it('uses each port once and needs exactly as many as it says', () => {
  const plan = planPorts(block(portsNeeded(3)), 3);
  const { lanes, ...servers } = plan;
  const used = [...Object.values(servers), ...lanes.flatMap((lane) => [...Object.values(lane.proxies), ...lane.kafkaListeners.values(), ...lane.rolePorts])];
  expect(new Set(used).size).toBe(used.length);
  expect(used.length).toBe(portsNeeded(3));
  expect(() => planPorts(block(portsNeeded(3) - 1), 3)).toThrow(/too few for 3 lanes/);
});

it('gives every link a proxy of its own that leads to its store, and Kafka links to the listener of their role', () => {
  const plan = planPorts(block(portsNeeded(2)), 2);
  const proxies = planProxies(plan);
  expect(proxies.length).toBe(1 + 2 * LINK_NAMES.length);
  expect(new Set(proxies.map((proxy) => proxy.listen)).size).toBe(proxies.length);
  const upstream = (name: string): string | undefined => proxies.find((proxy) => proxy.name === name)?.upstream;
  expect(upstream('replication')).toBe(`127.0.0.1:${plan.redisPrimary}`);
  expect(upstream('L1-gateway-redis')).toBe(`127.0.0.1:${plan.redisPrimary}`);
  expect(upstream('L0-closer-postgres')).toBe(`127.0.0.1:${plan.postgres}`);
  expect(upstream('L1-relay-kafka')).toBe(`127.0.0.1:${plan.lanes[1]!.kafkaListeners.get('relay')!}`);
});

it('advertises each Kafka listener as the proxy that leads to it', () => {
  const plan = planPorts(block(portsNeeded(2)), 2);
  const proxies = planProxies(plan);
  const listeners = kafkaListeners(plan);
  expect(listeners.map((listener) => listener.name)).toEqual(['DIRECT', ...[0, 1].flatMap((lane) => KAFKA_ROLES.map((role) => `L${lane}_${role.toUpperCase()}`))]);
  for (const listener of listeners.slice(1)) {
    expect(proxies.find((proxy) => proxy.listen === `127.0.0.1:${listener.advertised}`)?.upstream).toBe(`127.0.0.1:${listener.port}`);
  }
  const properties = kafkaProperties(listeners, plan.kafkaController, '/data');
  expect(properties).toContain(`advertised.listeners=DIRECT://127.0.0.1:${plan.kafkaDirect},L0_GATEWAY://127.0.0.1:${plan.lanes[0]!.proxies['gateway-kafka']},`);
  expect(properties).not.toMatch(/advertised\.listeners=.*CONTROLLER/);
});
