/**
 * Exit codes are an interface: scripts and CI match on them (DESIGN §7). When several apply, the order of this list decides: the first wins.
 */
export const ExitCode = {
  /** An invariant is violated. Nothing else ever leaves as 1. */
  violated: 1,
  /** The lab itself crashed: a bug of the lab, never a finding about the system. */
  crashed: 255,
  /** The user pressed Ctrl-C; faults were healed and everything was torn down. */
  aborted: 105,
  /** Evidence is missing or contradicts itself, a fault is not proven, or the stack cannot start. */
  unknown: 2,
  /** The generator could not keep its schedule: the run promises no service level and is never green. */
  void: 3,
  /** Every invariant holds; a service level that the scenario promises is missed. */
  serviceLevelMissed: 99,
  /** Bad options, an unknown name, a report folder that cannot be used. */
  usage: 254,
  /** All hold. */
  green: 0,
} as const;

export type ExitCodeName = keyof typeof ExitCode;
export type ExitCode = (typeof ExitCode)[ExitCodeName];

/** Names in the order of precedence. */
export const EXIT_CODE_PRECEDENCE = Object.keys(ExitCode) as readonly ExitCodeName[];

/** The name of the exit code of everything that happened; green when nothing did. */
export function firstThatApplies(happened: ReadonlySet<ExitCodeName>): ExitCodeName {
  return EXIT_CODE_PRECEDENCE.find((candidate) => happened.has(candidate)) ?? 'green';
}
