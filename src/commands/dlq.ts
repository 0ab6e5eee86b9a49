/**
 * `seckill-lab dlq list|replay`: the dead letters of a running system, and the reservations that wait for a human. A replay sends the original
 * again, once; a letter that is not open any more is left alone.
 */
import type { Producer } from 'kafkajs';

import { DeadLetterStatus } from '../domain/status-codes.js';
import { ExitCode } from '../exit-codes.js';
import { LabError } from '../facts/lab-error.js';
import { loadStatements } from '../system/ledger/sql-loader.js';
import { createKafka } from '../system/order-log/kafka-client.js';
import { replayDeadLetter, type OriginalMessage } from '../system/recovery/dead-letter-replay.js';
import type { CommandIo } from './command-io.js';
import { manualReservations, type ManualReservation } from './manual-reservations.js';
import { reportError } from './report-error.js';
import { withRunningSystem, type RunningSystem, type SystemOptions } from './running-system.js';

export interface DlqListOptions extends SystemOptions {
  /** `open` (the default), `replayed`, `closed` or `all`. */
  readonly status?: string;
  readonly json?: boolean;
}

export interface DlqReplayOptions extends SystemOptions {
  readonly id?: readonly string[];
  readonly all?: boolean;
}

/** More are no list any more; `--json` has the same bound. */
const LIST_MAX = 1_000;
const STATUS_BY_WORD = { open: DeadLetterStatus.OPEN, replayed: DeadLetterStatus.REPLAYED, closed: DeadLetterStatus.CLOSED, all: null } as const;
const WORD_OF_STATUS: Readonly<Record<number, string>> = { 0: 'OPEN', 10: 'REPLAYED', 20: 'CLOSED' };

interface LetterRow {
  readonly dead_letter_id: string;
  readonly cause: string;
  readonly detail: string;
  readonly attempts: number;
  readonly message_id: string | null;
  readonly reservation_id: string | null;
  readonly status: number;
  readonly resolution: string | null;
  readonly first_seen_at: Date;
  readonly dead_at: Date;
  readonly reservation_status: number | null;
}

function isStatusWord(text: string): text is keyof typeof STATUS_BY_WORD {
  return Object.hasOwn(STATUS_BY_WORD, text);
}

/** 0 with a list, also with an empty one; 2 when the stack does not answer; 254 for bad options. */
export async function runDlqList(options: DlqListOptions, io: CommandIo): Promise<number> {
  try {
    const word = options.status ?? 'open';
    if (!isStatusWord(word)) throw new LabError('USAGE', `--status ${word}: is one of ${Object.keys(STATUS_BY_WORD).join(' ')}`, 'see `seckill-lab dlq list --help`');
    await withRunningSystem(options, async ({ client }) => {
      const statements = loadStatements();
      const letters = await client.query<LetterRow>({ ...statements.list_dead_letters, values: [STATUS_BY_WORD[word], LIST_MAX] });
      const manual = await manualReservations(client);
      io.stdout(options.json === true ? jsonOf(letters.rows, manual) : textOf(letters.rows, manual, word));
    });
    return ExitCode.green;
  } catch (error) {
    return reportError(error, io);
  }
}

function jsonOf(letters: readonly LetterRow[], manual: readonly ManualReservation[]): string {
  const document = {
    deadLetters: letters.map((row) => ({
      id: row.dead_letter_id, cause: row.cause, detail: row.detail, attempts: row.attempts, messageId: row.message_id, reservationId: row.reservation_id,
      status: WORD_OF_STATUS[row.status] ?? row.status, resolution: row.resolution, firstSeenAt: row.first_seen_at.toISOString(), deadAt: row.dead_at.toISOString(),
      reservationStatus: row.reservation_status,
    })),
    manualRequired: manual,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function textOf(letters: readonly LetterRow[], manual: readonly ManualReservation[], word: string): string {
  const lines = letters.map((row) => {
    const state = [WORD_OF_STATUS[row.status] ?? String(row.status), ...(row.resolution === null || row.resolution === 'REPLAYED' ? [] : [row.resolution])].join(' ');
    return `${row.dead_letter_id}  ${state}  ${row.cause} after ${String(row.attempts)} tries  ${row.dead_at.toISOString()}  reservation ${row.reservation_id ?? 'unknown'}\n    ${row.detail}`;
  });
  const waiting = manual.map(({ reservationId, why, since, requestId }) => `${reservationId}  MANUAL_REQUIRED  ${why ?? ''}  since ${since}  request ${requestId}`);
  const heads = [
    `${String(letters.length)} dead letters${word === 'all' ? '' : ` (${word})`}${letters.length === LIST_MAX ? ', and there may be more' : ''}`,
    ...lines,
    `${String(manual.length)} reservations wait for a human${manual.length === 0 ? '' : ' (`manual release` ends them)'}`,
    ...waiting,
  ];
  return `${heads.join('\n')}\n`;
}

/** 0 when every letter asked for was sent again or had been before; 2 when one could not be; 254 for bad options or an unknown id. */
export async function runDlqReplay(options: DlqReplayOptions, io: CommandIo): Promise<number> {
  try {
    const ids = options.id ?? [];
    if ((ids.length > 0) === (options.all === true)) throw new LabError('USAGE', 'give either --id or --all', 'see `seckill-lab dlq list` for the ids');
    return await withRunningSystem(options, (system) => replay(system, ids, io));
  } catch (error) {
    return reportError(error, io);
  }
}

async function replay(system: RunningSystem, asked: readonly string[], io: CommandIo): Promise<number> {
  const statements = loadStatements();
  const { client } = system;
  const { rows } = await client.query<LetterRow>({ ...statements.list_dead_letters, values: [null, null] });
  const unknown = asked.filter((id) => !rows.some((row) => row.dead_letter_id === id));
  if (unknown.length > 0) throw new LabError('USAGE', `there is no dead letter ${unknown.join(' ')}`, 'see `seckill-lab dlq list --status all`');
  const ids = asked.length > 0 ? [...new Set(asked)] : rows.filter((row) => row.status === DeadLetterStatus.OPEN).map((row) => row.dead_letter_id);
  const count = { replayed: 0, 'not-open': 0, 'not-carried': 0 };
  await withProducer(system, async (produce) => {
    for (const id of ids) {
      const end = await replayDeadLetter(client, statements, id, produce);
      count[end.outcome] += 1;
      if (end.outcome === 'replayed') io.stdout(`${id}  sent again\n`);
      else if (end.outcome === 'not-open') io.stdout(`${id}  not open: left alone\n`);
      else io.stderr(`dlq: ${id} cannot be sent again: ${end.why}\n`);
    }
  });
  io.stdout(`${String(count.replayed)} sent again, ${String(count['not-open'])} left alone\n`);
  return count['not-carried'] > 0 ? ExitCode.unknown : ExitCode.green;
}

/** The broker is reached only when there is something to send. A send that fails ends the replay: its letter and those after it stay open. */
async function withProducer({ stack, namespace }: RunningSystem, work: (produce: (message: OriginalMessage) => Promise<void>) => Promise<void>): Promise<void> {
  const kafka = createKafka({ address: stack.direct.kafka, clientId: 'seckill-lab-dlq', requestTimeoutMs: 5_000, connectionTimeoutMs: 2_000, retries: 2 });
  let producer: Producer | null = null;
  const produce = async ({ topic, key, value, headers }: OriginalMessage): Promise<void> => {
    if (!topic.startsWith(`${namespace.id}.`)) throw new LabError('USAGE', `a dead letter names topic ${topic}, which is not of namespace ${namespace.id}`, 'look at it with `seckill-lab dlq list --json`');
    try {
      if (producer === null) {
        const fresh = kafka.producer({ allowAutoTopicCreation: false });
        await fresh.connect();
        producer = fresh;
      }
      await producer.send({ topic, acks: -1, messages: [{ key, value, headers: { ...headers } }] });
    } catch (cause) {
      throw new LabError('STACK_GONE', `the broker did not take the message: ${cause instanceof Error ? cause.message : String(cause)}`, 'run the same command again: what was sent is marked, and a message that comes twice takes effect once', { cause });
    }
  };
  try {
    await work(produce);
  } finally {
    await (producer as Producer | null)?.disconnect();
  }
}
