/**
 * A container of the lab, by testcontainers, with what its builder has no words for: ports on the loopback only, our network alone, and names
 * that are not asked of the world.
 */
import { GenericContainer } from 'testcontainers';
import type { StartedTestContainer } from 'testcontainers';

import type { PublishedPort } from './container-plan.js';
import type { Labels } from './labels.js';
import { ImageByContent } from './names-as-run.js';

export interface ContainerOrder {
  readonly image: string;
  /** Its content address, by which it runs. */
  readonly imageId: string;
  readonly name: string;
  readonly alias: string;
  readonly network: string;
  readonly labels: Labels;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly PublishedPort[];
  /** False: it may outlive the lab, so no session of testcontainers may end it. */
  readonly endsWithSession: boolean;
}

class LabContainer extends GenericContainer {
  constructor(order: ContainerOrder) {
    super(order.image);
    this.imageName = new ImageByContent(order.imageId);
    this.createOpts.Image = order.imageId;
    this.withName(order.name).withLabels({ ...order.labels }).withEnvironment({ ...order.environment }).withNetworkMode(order.network).withAutoCleanup(order.endsWithSession);
    if (order.command.length > 0) this.withCommand([...order.command]);
    // Ready is what answers, and that is asked by the stack; here nothing is waited for.
    this.withWaitStrategy(NO_WAIT);
    this.createOpts.ExposedPorts = Object.fromEntries(order.ports.map(({ inside }) => [`${String(inside)}/tcp`, {}]));
    this.hostConfig.PortBindings = Object.fromEntries(order.ports.map(({ inside, onHost }) => [`${String(inside)}/tcp`, [{ HostIp: '127.0.0.1', HostPort: String(onHost) }]]));
    this.createOpts.NetworkingConfig = { EndpointsConfig: { [order.network]: { Aliases: [order.alias] } } };
    Object.assign(this.hostConfig, SHORT_WAITS);
  }
}

/**
 * Toxiproxy accepts no connection and obeys no call on a link as long as it looks for the link's server, and the lab gives a call five seconds. The name of a server that is
 * down is unknown to the engine, which then asks outside, where nobody is, and with Docker 20.10 never answers: two seconds instead of ten. And while a container is taken
 * down its name leads for a moment to an address that is silent: three seconds, one repeated SYN, instead of two minutes.
 */
const SHORT_WAITS = { Dns: ['127.0.0.1'], DnsSearch: ['.'], DnsOptions: ['timeout:1', 'attempts:2'], Sysctls: { 'net.ipv4.tcp_syn_retries': '1' } };

const NO_WAIT = {
  waitUntilReady: () => Promise.resolve(),
  withStartupTimeout: () => NO_WAIT,
  isStartupTimeoutSet: () => true,
  getStartupTimeout: () => 60_000,
};

export function startContainer(order: ContainerOrder): Promise<StartedTestContainer> {
  return new LabContainer(order).start();
}
