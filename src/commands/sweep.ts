/** `seckill-lab sweep`: a warm stack → counting runs → every case → table → exit code. `--resume` goes on where a sweep was broken off. */
import { join } from 'node:path';

import { ExitCode } from '../exit-codes.js';
import type { SweepHead, SweepRow, SweepStore } from '../facts/sweep.js';
import { throwIfAborted } from '../lab/abort.js';
import { openWarmStack } from '../lab/cases/warm-stack.js';
import { planSweep, runSweepCases, type SweepSurroundings } from '../lab/sweep/run-sweep.js';
import { parseSweepOptions, type SweepOptions } from '../lab/sweep/sweep-options.js';
import { MUTANTS } from '../mutants/registry.js';
import { createRunFolder } from '../report/run-folder.js';
import { createSweepFolder, readSweepFolder, SWEEP_CASES_FOLDER, SWEEP_LOGS_FOLDER } from '../report/sweep-folder.js';
import { sweepOutcome, sweepTable } from '../report/sweep-table.js';
import { brokenOff } from './broken-off.js';
import type { CommandIo } from './command-io.js';
import { listenForAbort } from './listen-for-abort.js';
import { refuseOtherCode } from './refuse-other-code.js';

const EXIT_OF = { violated: ExitCode.violated, unknown: ExitCode.unknown, 'service-level-missed': ExitCode.serviceLevelMissed, green: ExitCode.green } as const;

interface Begun {
  readonly store: SweepStore;
  /** null: the counting is still to be done. */
  readonly head: SweepHead | null;
  readonly rows: readonly SweepRow[];
  readonly options: SweepOptions;
}

async function beginOrResume(raw: Readonly<Record<string, unknown>>): Promise<Begun> {
  const mutant = raw['mutant'];
  const problems = typeof mutant === 'string' && !MUTANTS.some(({ name }) => name === mutant) ? [`there is no mutant ${JSON.stringify(mutant)}; there are ${MUTANTS.map(({ name }) => name).join(', ')}`] : [];
  const options = parseSweepOptions(raw, problems);
  if (typeof raw['resume'] !== 'string') {
    const store = await createSweepFolder(typeof raw['reportDir'] === 'string' ? raw['reportDir'] : 'reports', new Date(), options.request.seed);
    return { store, head: null, rows: [], options };
  }
  const { store, head, rows } = readSweepFolder(raw['resume']);
  refuseOtherCode(`the sweep in ${store.directory}`, head);
  return { store, head, rows, options: { ...options, lanes: raw['lanes'] === undefined ? head.lanes : options.lanes } };
}

function lineOf(row: SweepRow, done: number, all: number): string {
  const recovery = row.recoveryMs === null ? '' : `, recovered after ${(row.recoveryMs / 1000).toFixed(1)} s`;
  const why = row.outcome === 'green' ? '' : `: ${row.headline}${row.directory === null ? '' : `\n  ${row.directory}`}`;
  return `[${String(done)}/${String(all)}] ${row.id}: ${row.outcome}${recovery}, took ${(row.tookMs / 1000).toFixed(1)} s${row.attempts > 1 ? ` (second attempt; the first: ${row.firstAttempt ?? ''})` : ''}${why}\n`;
}

/** Rows of unfinished business are done again: what proved nothing may prove something now. */
function settled(rows: readonly SweepRow[]): readonly SweepRow[] {
  return rows.filter(({ outcome }) => outcome === 'green' || outcome === 'violated' || outcome === 'service-level-missed');
}

/** Exit codes as everywhere: 1 a case is violated, 2 a case or a step proves nothing, 99 only drained too late, 0 all hold. */
export async function runSweep(raw: Readonly<Record<string, unknown>>, argv: readonly string[], io: CommandIo): Promise<number> {
  const begun = await beginOrResume(raw);
  const { store, options } = begun;
  const abort = new AbortController();
  const stopListening = listenForAbort(abort);
  const note = (text: string): void => {
    io.stderr(`sweep: ${text}\n`);
  };
  note(`seed ${String(begun.head?.seed ?? options.request.seed)}, ${String(options.lanes)} lanes, report ${store.directory}`);
  let rows = settled(begun.rows);
  let { head } = begun;
  let all = head?.cases.length ?? 0;
  try {
    const warm = await openWarmStack({ lanes: options.lanes, signal: abort.signal, logDirectory: join(store.directory, SWEEP_LOGS_FOLDER), onNote: note });
    try {
      const around: SweepSurroundings = {
        warm, store, argv, note,
        signal: abort.signal,
        openCase: (plan, name) => createRunFolder(join(store.directory, SWEEP_CASES_FOLDER), name.replaceAll(/[^a-z0-9.+-]+/g, '-'), plan.startedAt, plan.seed),
        onRow(row) {
          rows = [...rows, row];
          io.stderr(lineOf(row, rows.length, all));
        },
      };
      if (head === null) {
        head = await planSweep(around, options.request);
        throwIfAborted(abort.signal);
        await store.saveHead(head);
        all = head.cases.length;
      }
      await runSweepCases(around, head, new Set(rows.map(({ id }) => id)));
    } finally {
      await warm.stop();
    }
    const table = sweepTable(head, rows);
    await store.saveTable(table);
    io.stdout(raw['json'] === true ? `${JSON.stringify({ head, rows }, null, 2)}\n` : table);
    if (abort.signal.aborted) throw brokenOff('sweep', store.directory);
    return EXIT_OF[sweepOutcome(head, rows)];
  } finally {
    stopListening();
  }
}
