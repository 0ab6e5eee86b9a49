/** Times in which a store was surely out of the gateways' reach, by the faults that were seen to land. */
import type { Facts } from '../facts/facts.js';
import type { FaultRecord } from '../facts/fault-record.js';

export interface Outage {
  readonly fault: FaultRecord;
  readonly store: 'redis' | 'kafka';
  readonly fromUs: number;
  readonly toUs: number;
  /** Something that can reserve answers all the while, so that a reservation stamped meanwhile was made meanwhile: the door alone keeps it out. */
  readonly couldReserve: boolean;
}

/** Faults that take a store out of the reach of the gateways. */
export const STORE_OF_FAULT: Readonly<Record<string, Outage['store']>> = { 'redis-down': 'redis', 'redis-failover': 'redis', 'redis-tail-loss': 'redis', 'broker-outage': 'kafka' };

/** `5`, `5s`, `500ms` or a number of milliseconds; null when there is no such option. Faults read a bare number as seconds. */
function lastsUs(option: string | number | undefined): number | null {
  if (typeof option === 'number') return option * 1_000;
  const match = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m)?$/.exec(option ?? '');
  if (match === null) return null;
  return Number(match[1]) * ({ ms: 1_000, s: 1_000_000, m: 60_000_000 }[match[2] ?? 's'] ?? 1_000_000);
}

/**
 * What the fault saw gone, where it says so: injecting takes a second on a busy machine, and until then the store is there. Else from the injection until the earlier of its planned end and the proof of its healing: the store came back somewhere before that proof. A failover takes
 * the store away only when its primary is killed, which is when the window of what it may lose ends, and gives it back when the promoted one was rebuilt: until
 * then that one answers and lacks what was lost. An unproven fault is no outage; one whose end nobody saw has no length.
 */
export function provenOutages(facts: Facts): readonly Outage[] {
  if (!facts.faults.present) return [];
  return facts.faults.value.flatMap((fault) => {
    const store = STORE_OF_FAULT[fault.name];
    const role = fault.options['role'] ?? 'all';
    if (store === undefined || fault.proof !== 'landed' || fault.injectedUs === null || fault.healedUs === null || (role !== 'all' && role !== 'gateway')) return [];
    const couldReserve = store === 'kafka' || fault.name === 'redis-failover';
    if (fault.outage !== undefined) return [{ fault, store, couldReserve, ...fault.outage }];
    const lasts = lastsUs(fault.options['s']);
    const fromUs = fault.mayLose === null ? fault.injectedUs : fault.mayLose.toUs;
    const toUs = Math.min(fault.healedUs, lasts === null ? Infinity : fault.injectedUs + lasts);
    return [{ fault, store, couldReserve, fromUs, toUs: Math.max(fromUs, toUs) }];
  });
}
