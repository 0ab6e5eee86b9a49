/** What an operator says about the place of a process, by environment variables: where it stands and how it logs. */

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'];

/** `SECKILL_AVAILABILITY_ZONE`, `local` where unset. A label of every metric and a field of every log line. */
export function availabilityZone(): string {
  return process.env['SECKILL_AVAILABILITY_ZONE'] ?? 'local';
}

/**
 * The secret under which user ids are hashed in logs: `SECKILL_LOG_KEY`. Without one, a key that only keeps ids of different namespaces apart:
 * good enough for a laboratory, whose users are invented.
 */
export function logKey(namespaceId: string): string {
  return process.env['SECKILL_LOG_KEY'] ?? `seckill ${namespaceId}`;
}

/** `SECKILL_LOG_LEVEL`: debug, info (default), warn or error. At debug the ledger tells each transaction (paper `001` §12.1). */
export function logLevel(): string {
  const level = process.env['SECKILL_LOG_LEVEL'] ?? 'info';
  return LEVELS.includes(level) ? level : 'info';
}
