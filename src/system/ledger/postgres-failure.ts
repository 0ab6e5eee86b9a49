/**
 * What an error of PostgreSQL or of its driver means for a transaction: try again at once, try again later, or never mind trying.
 */

/**
 * conflict: another transaction was in the way; the whole transaction may be tried again at once.
 * slow: a statement took longer than its bound; a smaller transaction may fit.
 * unavailable: no connection, or the server cannot work now; try again later.
 * definite: the database refuses for a cause that trying again does not mend.
 */
export type FailureKind = 'conflict' | 'slow' | 'unavailable' | 'definite';

/** Units exist that other transactions hold locked, so the answer is neither "here" nor "sold out" (CASES C29). */
export class UnitsLocked extends Error {
  override readonly name = 'UnitsLocked';
}

/** An order id made here is taken; the next try makes another one. */
export class OrderIdTaken extends Error {
  override readonly name = 'OrderIdTaken';
}

/** The tables say something that no correct writer can have written, or a conditional write hit another number of rows than it must. */
export class LedgerAnomaly extends Error {
  override readonly name = 'LedgerAnomaly';
}

const CONFLICTS = new Set(['40001', '40P01', '55P03']);
/** Data exception, integrity, cardinality, syntax or access, not supported, raised by a function, triggered action. */
const DEFINITE_CLASSES = new Set(['22', '23', '21', '42', '0A', 'P0', '09', '27', '44']);

export function sqlStateOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  const code = error.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** FATAL and PANIC end the session; an ERROR leaves it usable. */
function isFatal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'severity' in error && (error.severity === 'FATAL' || error.severity === 'PANIC');
}

/** A programmer's error must not be mistaken for an operating failure and tried for ever. */
export function isBug(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError || error instanceof SyntaxError
    || (error instanceof Error && error.name === 'AssertionError');
}

export function failureKind(error: unknown): FailureKind {
  if (error instanceof UnitsLocked || error instanceof OrderIdTaken) return 'conflict';
  if (error instanceof LedgerAnomaly) return 'definite';
  const sqlState = sqlStateOf(error);
  if (sqlState === null) return error instanceof Error && error.message === 'Query read timeout' ? 'slow' : 'unavailable';
  if (CONFLICTS.has(sqlState)) return 'conflict';
  if (sqlState === '57014') return 'slow';
  return !isFatal(error) && DEFINITE_CLASSES.has(sqlState.slice(0, 2)) ? 'definite' : 'unavailable';
}

/** What a line of the log calls it. */
export function errorClassOf(error: unknown): FailureKind | 'bug' {
  return isBug(error) ? 'bug' : failureKind(error);
}

/**
 * Whose fault a definite refusal is.
 * message: its data, so other messages are well. tables: they hold what no correct writer can have written. schema: a missing table, a missing
 * right, a statement that this server does not know; every message meets it, and none is to blame.
 */
export type RefusalFault = 'message' | 'tables' | 'schema';

export function refusalFault(error: unknown): RefusalFault {
  if (error instanceof LedgerAnomaly) return 'tables';
  const sqlState = sqlStateOf(error) ?? '';
  return sqlState.startsWith('42') || sqlState.startsWith('0A') ? 'schema' : 'message';
}

/**
 * After COMMIT was sent: does this error prove that nothing was committed? Only a SQLSTATE by which the server itself refused the COMMIT
 * does. Everything else (connection gone, client's own timeout, shutdown) leaves it open (LIBRARIES §3.1).
 */
export function provesNotCommitted(error: unknown): boolean {
  const sqlState = sqlStateOf(error);
  if (sqlState === null || isFatal(error)) return false;
  return CONFLICTS.has(sqlState) || DEFINITE_CLASSES.has(sqlState.slice(0, 2)) || sqlState.startsWith('25');
}

/** One line for logs and outcomes. */
export function describeFailure(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const sqlState = sqlStateOf(error);
  return (sqlState === null ? text : `${sqlState} ${text}`).slice(0, 300);
}
