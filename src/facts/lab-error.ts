/**
 * An operating failure: something outside went wrong and a person can mend it. A violated invariant is data and a bug is an assertion;
 * neither is a `LabError` (STYLE 10). The closed list of codes is an interface: scripts match on it.
 */
export const LAB_ERROR_CODES = {
  /** Bad options, unknown names, unusable report folder. Exit 254. */
  USAGE: 'usage',
  REPORT_FOLDER_UNUSABLE: 'usage',
  NOT_A_RUN_FOLDER: 'usage',
  /** Something the stack needs is not installed. Exit 2. */
  MISSING_DEPENDENCY: 'unusable',
  INSTALL_FAILED: 'unusable',
  STACK_START_FAILED: 'unusable',
  STACK_GONE: 'unusable',
  STACK_FILE_INVALID: 'unusable',
  PORT_IN_USE: 'unusable',
  SERVER_DIED: 'unusable',
  ROLE_START_FAILED: 'unusable',
  ROLE_DIED: 'unusable',
  SYSTEM_NOT_READY: 'unusable',
  GENERATOR_FAILED: 'unusable',
  FAULT_NOT_HEALED: 'unusable',
  HARVEST_FAILED: 'unusable',
  /** The user pressed Ctrl-C. Exit 105. */
  ABORTED: 'aborted',
} as const;
export type LabErrorCode = keyof typeof LAB_ERROR_CODES;
export type LabErrorKind = (typeof LAB_ERROR_CODES)[LabErrorCode];

export class LabError extends Error {
  readonly code: LabErrorCode;
  /** What the reader does next, one sentence or a command. */
  readonly nextStep: string;
  /** Extra lines, such as a server's last log lines. */
  readonly details: readonly string[];

  constructor(code: LabErrorCode, message: string, nextStep: string, options: { cause?: unknown; details?: readonly string[] } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'LabError';
    this.code = code;
    this.nextStep = nextStep;
    this.details = options.details ?? [];
  }

  get kind(): LabErrorKind {
    return LAB_ERROR_CODES[this.code];
  }
}
