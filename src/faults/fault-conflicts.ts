/**
 * Which faults cannot run together: two that need the same thing for themselves at the same time would undo each other, or each would be proven by what
 * the other did.
 */
import type { BoundFault, FaultHold } from './fault.js';

/** A fault with the name it goes by in messages, such as the option text it came from. */
export interface NamedFault {
  readonly text: string;
  readonly fault: BoundFault;
}

/** A link leads to a server: while that one is away nothing on the link can be proven. */
const SERVER_BEHIND: Readonly<Record<string, string>> = { redis: 'redis-primary', kafka: 'kafka', postgres: 'postgres' };

function serverBehind(hold: FaultHold): string | null {
  return hold.kind === 'link' ? (SERVER_BEHIND[hold.name.split('-').at(-1) ?? ''] ?? null) : null;
}

function isSameThing(one: FaultHold, other: FaultHold): boolean {
  if (one.kind === other.kind) return one.name === other.name;
  return (other.kind === 'server' && serverBehind(one) === other.name) || (one.kind === 'server' && serverBehind(other) === one.name);
}

function meets(one: FaultHold, other: FaultHold): boolean {
  return isSameThing(one, other) && !(one.shared && other.shared) && one.fromMs < other.toMs && other.fromMs < one.toMs;
}

/** Every pair that cannot run together, in words; empty: all can. */
export function conflictsOf(faults: readonly NamedFault[]): readonly string[] {
  return faults.flatMap((one, index) =>
    faults.slice(index + 1).flatMap((other) => {
      const [hold] = one.fault.holds.filter((mine) => other.fault.holds.some((theirs) => meets(mine, theirs)));
      if (hold === undefined) return [];
      const when = hold.toMs === Infinity ? `from ${String(hold.fromMs / 1_000)} s on` : `from ${String(hold.fromMs / 1_000)} s to ${String(hold.toMs / 1_000)} s`;
      return [`${one.text} and ${other.text} cannot run together: both need ${hold.kind} ${hold.name} ${when}`];
    }),
  );
}
