/**
 * Toxiproxy's API with what its client lacks: a deadline on every call (the server has hung on the removal of a toxic), and errors that
 * say what was asked.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { Toxiproxy } from 'toxiproxy-node-client';
import type { Proxy } from 'toxiproxy-node-client';

import type { HostPort } from '../../domain/role-config.js';
import { LabError } from '../../facts/lab-error.js';
import type { LinkCounters, ToxicSpec } from '../../facts/targets.js';
import { countersOf } from './toxiproxy-metrics.js';

const DEADLINE_MS = 5_000;

export interface ProxyPlan {
  readonly name: string;
  readonly listen: string;
  readonly upstream: string;
}

export interface ToxiproxyApi {
  version(): Promise<string>;
  /** Makes all proxies, without toxics, whatever was there before. */
  populate(plans: readonly ProxyPlan[]): Promise<void>;
  addToxic(proxy: string, toxic: ToxicSpec): Promise<void>;
  removeToxic(proxy: string, toxic: string): Promise<void>;
  listToxics(proxy: string): Promise<readonly string[]>;
  setEnabled(proxy: string, enabled: boolean): Promise<void>;
  isEnabled(proxy: string): Promise<boolean>;
  setUpstream(proxy: string, upstream: HostPort): Promise<void>;
  counters(proxy: string): Promise<LinkCounters>;
}

export function toxiproxyApi(address: HostPort): ToxiproxyApi {
  const root = `http://${address.host}:${String(address.port)}`;
  const client = new Toxiproxy(root);

  async function listToxics(proxy: string): Promise<readonly string[]> {
    const body = await getText(`${root}/proxies/${proxy}/toxics`);
    return (JSON.parse(body) as readonly { name: string }[]).map((toxic) => toxic.name);
  }

  /** The server wants the whole proxy at every change. */
  async function update(proxy: string, change: { enabled?: boolean; upstream?: string }): Promise<void> {
    const { enabled, listen, upstream } = await client.get(proxy);
    await client.get(proxy).then((found: Proxy) => found.update({ enabled, listen, upstream, ...change }));
  }

  return {
    version: () => within('asking for its version', getText(`${root}/version`)),
    populate: (plans) =>
      within('making its proxies', async () => {
        // `populate` keeps a proxy that exists with its toxics, and ignores whether it should be enabled: reset first.
        await client.reset();
        const made = await client.populate(plans.map((plan) => ({ ...plan, enabled: true })));
        const missing = plans.filter((plan) => made[plan.name] === undefined);
        if (missing.length > 0) throw new Error(`${missing.map((plan) => plan.name).join(', ')} were not made`);
      }),
    addToxic: (proxy, toxic) =>
      within(`adding toxic ${toxic.name} to ${proxy}`, async () => {
        const found = await client.get(proxy);
        await found.addToxic({ name: toxic.name, type: toxic.type, stream: toxic.stream, toxicity: 1, attributes: toxic.attributes });
      }),
    removeToxic: (proxy, toxic) =>
      within(`removing toxic ${toxic} from ${proxy}`, async () => {
        if (!(await listToxics(proxy)).includes(toxic)) return;
        const found = await client.get(proxy);
        await found.getToxic(toxic).then((it) => it.remove());
        if ((await listToxics(proxy)).includes(toxic)) throw new Error('it is still there');
      }),
    listToxics: (proxy) => within(`listing the toxics of ${proxy}`, listToxics(proxy)),
    setEnabled: (proxy, enabled) => within(`${enabled ? 'opening' : 'closing'} ${proxy}`, update(proxy, { enabled })),
    isEnabled: (proxy) => within(`looking at ${proxy}`, async () => (await client.get(proxy)).enabled),
    setUpstream: (proxy, upstream) => within(`repointing ${proxy}`, update(proxy, { upstream: `${upstream.host}:${String(upstream.port)}` })),
    counters: (proxy) => within(`reading the counters of ${proxy}`, async () => countersOf(await getText(`${root}/metrics`), proxy)),
  };
}

/** Rejects with LabError STACK_GONE, naming what was tried, when the call fails or takes longer than 5 s. */
async function within<T>(what: string, call: Promise<T> | (() => Promise<T>)): Promise<T> {
  const deadline = new AbortController();
  const late = delay(DEADLINE_MS, undefined, { signal: deadline.signal }).then(() => {
    throw new Error(`no answer within ${String(DEADLINE_MS / 1_000)} s`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([typeof call === 'function' ? call() : call, late]);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LabError('STACK_GONE', `Toxiproxy failed at ${what}: ${why}`, 'see the log of toxiproxy in the folder of the stack', { cause });
  } finally {
    deadline.abort();
  }
}

async function getText(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) });
  if (!response.ok) throw new Error(`${url} answered ${String(response.status)}`);
  return response.text();
}
