/**
 * One process = one role. Reads `SECKILL_ROLE_CONFIG`, starts the role, says once on stdout when it is healthy, and ends by a signal (0) or by
 * what the role cannot survive (1), with a line of JSON on stderr.
 */
import type { RoleConfig } from '../domain/role-config.js';
import { createJsonLog } from './compose/json-log.js';
import { composeRole } from './compose.js';
import type { RunningRole } from './role.js';

const HEALTH_POLL_MS = 50;
/** A stop that hangs ends here: a process that does not die is worse than one that loses what it had in hand. */
const STOP_TIMEOUT_MS = 5_000;

function readConfig(): RoleConfig {
  const text = process.env['SECKILL_ROLE_CONFIG'];
  if (text === undefined) throw new Error('SECKILL_ROLE_CONFIG is not set: it holds the configuration of the role as JSON');
  return JSON.parse(text) as RoleConfig;
}

async function announceReady(role: RunningRole, config: RoleConfig): Promise<void> {
  while ((await role.health()).length > 0) await new Promise((resolve) => setTimeout(resolve, HEALTH_POLL_MS));
  process.stdout.write(`${JSON.stringify({ ready: true, role: config.role, instance: config.instance, pid: process.pid, listen: config.listen })}\n`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function main(): Promise<void> {
  let log = createJsonLog('unknown');
  // Not by throwing: whatever goes wrong is told once, in one line, under the name of the instance where that is known.
  const die = (text: string, error: unknown): void => {
    log('error', text, { reason: reasonOf(error) });
    process.exit(1);
  };
  process.on('uncaughtException', (error) => {
    die('uncaught exception', error);
  });
  process.on('unhandledRejection', (error) => {
    die('unhandled rejection', error);
  });

  const config = readConfig();
  log = createJsonLog(config.instance, config);
  const role = await composeRole(config, { log }).catch((error: unknown) => {
    die('the role could not start', error);
    throw error;
  });
  const end = (signal: NodeJS.Signals): void => {
    log('info', 'stopping', { signal });
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS).unref();
    role.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        die('the role did not stop cleanly', error);
      },
    );
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  void role.fatal.then((error) => {
    die('the role cannot go on', error);
  });
  await announceReady(role, config);
}

main().catch((error: unknown) => {
  createJsonLog('unknown')('error', 'the role could not start', { reason: reasonOf(error) });
  process.exit(1);
});
