/**
 * What a failed Redis call means: surely not done, or unknown (LIBRARIES §2). Only an answer of the server that it refused before running
 * anything, or a command that was never written, is "surely not". Timeouts and lost connections are unknown, always.
 */
import type { CallOutcome } from '../../domain/reason-codes.js';

export type FailedOutcome = Exclude<CallOutcome, 'done'>;

export interface CallFailure {
  readonly outcome: FailedOutcome;
  readonly reason: string;
}

/** How a call ended, with its value when it was done. */
export type CallResult<T> = { readonly outcome: 'done'; readonly value: T } | CallFailure;

/**
 * First words of error replies that a server gives before a command or script takes effect. OOM and NOREPLICAS come from inside a script
 * too, but at its first write (all our scripts read first), so nothing is half done.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  'READONLY', 'NOSCRIPT', 'LOADING', 'BUSY', 'MASTERDOWN', 'CLUSTERDOWN', 'MOVED', 'ASK', 'TRYAGAIN', 'CROSSSLOT', 'MISCONF', 'OOM',
  'NOREPLICAS', 'NOAUTH', 'WRONGPASS', 'NOPERM',
]);

/** ioredis' own refusal to write, with the offline queue off: the command never left this process. */
const NOT_WRITTEN = "Stream isn't writeable and enableOfflineQueue options is false";

/** Classifies what a command's promise was rejected with. Call only for commands that were given to a connection in state `ready`. */
export function classifyFailure(error: unknown): CallFailure {
  const message = error instanceof Error ? error.message : String(error);
  const surely = message === NOT_WRITTEN || (isReplyError(error) && REFUSALS.has(message.split(' ', 1)[0] ?? ''));
  return { outcome: surely ? 'surely-not-done' : 'unknown', reason: message };
}

/** An answer of the server, not a failure of the client; ioredis exports the class untyped, its name is stable. */
export function isReplyError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
