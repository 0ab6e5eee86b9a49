/**
 * Entry of the generator's process. Started by the lab with `child_process.fork` (see generator-client.ts); the job comes as a file, everything else
 * over the channel. When the channel closes the lab is gone, and the generator goes too. Without a job in the environment it is warm: it gets one job after another.
 */
import { readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

import { Generator } from './generator.js';
import { LOAD_JOB_VARIABLE, type GeneratorMessage, type LabMessage, type LoadJob } from './load-job.js';

function tell(message: GeneratorMessage): void {
  // The lab may be gone at any moment; `disconnect` ends this process then.
  process.send?.(message, undefined, undefined, () => undefined);
}

function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.send?.({ kind: 'failed', message } satisfies GeneratorMessage, undefined, undefined, () => process.exit(1));
  if (process.send === undefined) process.exit(1);
}

/** Below it the whole system under test queues for the processor. */
const PRIORITY = -10;

/**
 * The world outside does not slow down when the servers are busy, but on one machine its stand-in does: it would be late and the run void. Where it may
 * (as root), it goes first; it uses a few per cent of a core. Not with the gateway inside, which must not be favoured.
 */
function goFirst(job: LoadJob): void {
  if (job.load.transport === 'inproc') return;
  try {
    setPriority(PRIORITY);
  } catch {
    // Not root: the honesty gate will say whether it mattered.
  }
}

interface Work {
  readonly generator: Generator;
  running: Promise<unknown>;
}

async function begin(path: string): Promise<Work> {
  const job = JSON.parse(await readFile(path, 'utf8')) as LoadJob;
  goFirst(job);
  const { generator, report } = await Generator.prepare(job, { progress: (progress) => tell({ kind: 'progress', progress }), failed: fail });
  tell({ kind: 'ready', report });
  return { generator, running: Promise.resolve() };
}

async function obey(work: Work, message: Exclude<LabMessage, { kind: 'job' }>): Promise<void> {
  const { generator } = work;
  if (message.kind === 'start') {
    const facts = generator.run(message.startAtMonoUs);
    work.running = facts;
    tell({ kind: 'done', facts: await facts });
  } else if (message.kind === 'finish-payers') {
    await work.running;
    tell({ kind: 'payers-finished', unfinished: await generator.finishPayers(message.timeoutMs) });
  } else if (message.kind === 'settle') {
    await work.running;
    tell({ kind: 'settled', ...(await generator.settle()) });
  } else {
    generator.abort();
    await work.running;
    await generator.finish();
  }
}

function main(): void {
  const path = process.env[LOAD_JOB_VARIABLE];
  let work: Promise<Work> | null = path === undefined ? null : begin(path);
  work?.catch(fail);
  const handle = async (message: LabMessage): Promise<void> => {
    if (message.kind === 'job') {
      work = begin(message.path);
      await work;
      return;
    }
    if (work === null) return;
    await obey(await work, message);
    if (message.kind !== 'stop') return;
    if (path !== undefined) process.exit(0);
    work = null;
    tell({ kind: 'stopped' });
  };
  process.on('message', (message) => {
    handle(message as LabMessage).catch(fail);
  });
}

process.on('disconnect', () => process.exit(1));
// Ctrl-C reaches the whole process group; the lab heals, stops the storm and says when to end.
process.on('SIGINT', () => undefined);
process.on('uncaughtException', fail);
main();
