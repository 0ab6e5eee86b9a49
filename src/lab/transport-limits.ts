/** What cannot be asked of a run whose gateway lives in the generator (`inproc`): there is no gateway process that takes requests and could be killed, stopped or held. */
import type { TransportName } from '../facts/load-spec.js';
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
