/**
 * What cannot be asked of a transport. Of `inproc`, whose gateway lives in the generator: there is no gateway process that takes requests and could be killed, stopped
 * or held. Of a binary `edge`, whose items are ids alone: other payloads, permits and devices.
 */
import type { EdgeForm, LoadSpec, TransportName } from '../facts/load-spec.js';
import { parseFaultOption } from '../faults/registry.js';

/** Aimed at every process, the gateways among them. */
const AIMED_AT_ALL: readonly string[] = ['restart-everything'];

function aimsAtGateway(text: string): boolean {
  const parsed = parseFaultOption(text);
  if (!parsed.ok) return false;
  const { name, options } = parsed.fault;
  const aims = [options['step'], options['role']].filter((aim) => typeof aim === 'string');
  return AIMED_AT_ALL.includes(name) || aims.some((aim) => /^gateway([.-]|$)/.test(aim));
}

/** Every fault that the transport makes meaningless, in words with a way out; malformed faults are told elsewhere. */
export function transportProblems(transport: TransportName, faults: readonly string[]): readonly string[] {
  if (transport !== 'inproc') return [];
  return faults.filter(aimsAtGateway).map((text) => `${text} aims at a gateway process, and with --transport inproc none takes requests: use --transport http, or aim at another role`);
}

/** Why the batches cannot be written so, in words; empty: they can. `form`: as asked for, or the load's own. */
export function edgeFormProblems(transport: TransportName, asked: EdgeForm | undefined, load: Pick<LoadSpec, 'edgeForm' | 'mix' | 'permits'>): readonly string[] {
  if (transport !== 'edge') return asked === undefined ? [] : [`--edge-form is of --transport edge, and this run uses ${transport}`];
  if ((asked ?? load.edgeForm) !== 'binary') return [];
  const others = [...(load.mix.conflictShare > 0 ? ['other payloads'] : []), ...(load.mix.malformedShare > 0 ? ['malformed requests'] : []), ...(load.permits === null ? [] : ['permits'])];
  return others.length === 0 ? [] : [`binary items carry ids alone, and the load of this scenario holds ${others.join(', ')}: use --edge-form json`];
}
