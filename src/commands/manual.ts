/**
 * `seckill-lab manual list|release`: the reservations of a running system that wait for a human (MANUAL_REQUIRED), and the human's decision to end them without
 * an order. Durable first: the row and the Outbox row that gives the unit back are one transaction; Redis follows by the relay and the projector. Repeating it does nothing.
 */
import { ExitCode } from '../exit-codes.js';
import { LabError } from '../facts/lab-error.js';
import { endByHand, type EndedByHand } from '../system/ledger/end-reservation.js';
import { createPool } from '../system/ledger/pool.js';
import { describeFailure } from '../system/ledger/postgres-failure.js';
import { loadStatements } from '../system/ledger/sql-loader.js';
import { inTransaction } from '../system/ledger/transaction.js';
import type { CommandIo } from './command-io.js';
import { manualReservations, type ManualReservation } from './manual-reservations.js';
import { reportError } from './report-error.js';
import { withRunningSystem, type RunningSystem, type SystemOptions } from './running-system.js';

export interface ManualListOptions extends SystemOptions {
  readonly json?: boolean;
}

export interface ManualReleaseOptions extends SystemOptions {
  readonly id?: readonly string[];
  readonly all?: boolean;
}

/** 0 with a list, also with an empty one; 2 when the stack does not answer; 254 for bad options. */
export async function runManualList(options: ManualListOptions, io: CommandIo): Promise<number> {
  try {
    await withRunningSystem(options, async ({ client }) => {
      const waiting = await manualReservations(client);
      io.stdout(options.json === true ? `${JSON.stringify({ manualRequired: waiting }, null, 2)}\n` : textOf(waiting));
    });
    return ExitCode.green;
  } catch (error) {
    return reportError(error, io);
  }
}

function textOf(waiting: readonly ManualReservation[]): string {
  const lines = waiting.map(({ reservationId, why, since, requestId, userId }) => `${reservationId}  ${why ?? ''}  since ${since}  request ${requestId}  user ${userId}`);
  return `${[`${String(waiting.length)} reservations wait for a human`, ...lines].join('\n')}\n`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** 0 when each reservation asked for has ended, now or before; 2 when one could not be ended; 254 for bad options or an unknown id. */
export async function runManualRelease(options: ManualReleaseOptions, io: CommandIo): Promise<number> {
  try {
    const ids = options.id ?? [];
    if ((ids.length > 0) === (options.all === true)) throw new LabError('USAGE', 'give either --id or --all', 'see `seckill-lab manual list` for the ids');
    const malformed = ids.filter((id) => !UUID.test(id));
    if (malformed.length > 0) throw new LabError('USAGE', `--id ${malformed.join(' ')}: is no reservation id`, 'see `seckill-lab manual list` for the ids');
    return await withRunningSystem(options, async (system) => {
      const wanted = ids.length > 0 ? [...new Set(ids.map((id) => id.toLowerCase()))] : (await manualReservations(system.client)).map(({ reservationId }) => reservationId);
      return release(system, wanted, io);
    });
  } catch (error) {
    return reportError(error, io);
  }
}

const WORDS: Readonly<Record<EndedByHand, string>> = {
  released: 'ended without an order; its unit goes back',
  'ended-before': 'had ended before: left alone',
  'not-waiting': 'does not wait for a human: left alone',
  'not-known': 'is not known',
};

/** Each in a transaction of its own, so that what was done before a failure stays done. */
async function release({ stack, namespace }: RunningSystem, ids: readonly string[], io: CommandIo): Promise<number> {
  const count: Record<EndedByHand, number> = { released: 0, 'ended-before': 0, 'not-waiting': 0, 'not-known': 0 };
  const statements = loadStatements();
  const pool = createPool({ address: stack.direct.postgres, database: namespace.database, applicationName: 'seckill-lab-manual', max: 1 }, { log: () => undefined });
  try {
    for (const id of ids) {
      const end = await inTransaction(pool, statements, (transaction) => endByHand(transaction, namespace.eventsTopic, id), { reservationId: id });
      if (end.end !== 'committed') {
        throw new LabError('STACK_GONE', `${id} was ${end.end === 'unknown' ? 'perhaps' : 'not'} ended: ${describeFailure(end.error)}`, 'run the same command again: what has ended is left alone', { cause: end.error });
      }
      count[end.value] += 1;
      io.stdout(`${id}  ${WORDS[end.value]}\n`);
    }
  } finally {
    await pool.end();
  }
  io.stdout(`${String(count.released)} ended, ${String(count['ended-before'])} had ended before\n`);
  if (count['not-known'] > 0) throw new LabError('USAGE', `${String(count['not-known'])} of the reservations asked for are not known`, 'see `seckill-lab manual list` for the ids');
  return count['not-waiting'] > 0 ? ExitCode.unknown : ExitCode.green;
}
