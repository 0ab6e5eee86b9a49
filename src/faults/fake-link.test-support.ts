/** A link made of plain values, and a client of it that meets what its toxics do. */
import type { HostPort } from '../domain/role-config.js';
import type { LinkName } from '../domain/roles.js';
import type { LinkCounters, LinkProbe, LinkTarget, ToxicSpec } from '../facts/targets.js';

export class FakeLink implements LinkTarget {
  readonly listen = { host: '127.0.0.1', port: 1 };
  readonly name: LinkName;
  enabled = true;
  toxics: ToxicSpec[] = [];
  upstream: HostPort | null = null;
  /** Toxics that are listed and do nothing; nobody behind it; what its machine needs for an exchange. */
  powerless = false;
  mute = false;
  slownessMs = 0.2;
  bytes: LinkCounters = { upstreamReceivedBytes: 0, upstreamSentBytes: 0, downstreamReceivedBytes: 0, downstreamSentBytes: 0 };
  /** Called with every toxic that is added, and with the word when the link is closed. */
  onChange: (change: ToxicSpec | 'disabled') => void = () => undefined;

  constructor(name: LinkName) {
    this.name = name;
  }

  /** Bytes that pass both legs, or get lost in the proxy. */
  move(received: number, sent: number): void {
    this.bytes = { ...this.bytes, downstreamReceivedBytes: this.bytes.downstreamReceivedBytes + received, downstreamSentBytes: this.bytes.downstreamSentBytes + sent };
  }

  addToxic(toxic: ToxicSpec): Promise<void> {
    this.toxics.push(toxic);
    this.onChange(toxic);
    return Promise.resolve();
  }
  removeToxic(name: string): Promise<void> {
    this.toxics = this.toxics.filter((toxic) => toxic.name !== name);
    return Promise.resolve();
  }
  listToxics(): Promise<string[]> {
    return Promise.resolve(this.toxics.map((toxic) => toxic.name));
  }
  setEnabled(enabled: boolean): Promise<void> {
    this.enabled = enabled;
    if (!enabled) this.onChange('disabled');
    return Promise.resolve();
  }
  isEnabled(): Promise<boolean> {
    return Promise.resolve(this.enabled);
  }
  setUpstream(upstream: HostPort): Promise<void> {
    this.upstream = upstream;
    return Promise.resolve();
  }
  counters(): Promise<LinkCounters> {
    return Promise.resolve(this.bytes);
  }
}

/** A client that meets what the toxics of its link do, plus what its machine needs by itself. */
export function probeOf(link: FakeLink | undefined): LinkProbe {
  if (link === undefined || link.mute) throw new Error('nobody answers');
  const toxicMs = (bytes: number, closing: boolean): number =>
    link.powerless ? 0 : Math.max(0, ...link.toxics.map(({ type, attributes: { latency = 0, jitter = 0, rate = 1, delay = 0, average_size: size = 1 } }) => {
      if (type === 'slow_close') return closing ? delay : 0;
      if (closing) return 0;
      return type === 'latency' ? latency - jitter : type === 'bandwidth' ? bytes / rate : type === 'slicer' ? ((Math.ceil(bytes / size) - 1) * delay) / 1000 : 0;
    }));
  return { exchange: (bytes) => Promise.resolve(link.slownessMs + toxicMs(bytes, false)), closing: () => Promise.resolve(link.slownessMs + toxicMs(0, true)), end: () => Promise.resolve() };
}
