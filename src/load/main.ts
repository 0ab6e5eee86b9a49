/**
 * Entry of the generator's process. Started by the lab with `child_process.fork` (see generator-client.ts); the job comes as a file, everything else
 * over the channel. When the channel closes the lab is gone, and the generator goes too.
 */
import { readFile } from 'node:fs/promises';

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

async function main(): Promise<void> {
  const path = process.env[LOAD_JOB_VARIABLE];
  if (path === undefined) throw new Error(`${LOAD_JOB_VARIABLE} is not set: this process is started by the lab`);
  const job = JSON.parse(await readFile(path, 'utf8')) as LoadJob;
  const { generator, report } = await Generator.prepare(job, { progress: (progress) => tell({ kind: 'progress', progress }), failed: fail });
  let running: Promise<unknown> = Promise.resolve();
  const handle = async (message: LabMessage): Promise<void> => {
    if (message.kind === 'start') {
      const facts = generator.run(message.startAtMonoUs);
      running = facts;
      tell({ kind: 'done', facts: await facts });
    } else if (message.kind === 'settle') {
      await running;
      tell({ kind: 'settled', ...(await generator.settle()) });
    } else {
      generator.abort();
      await running;
      await generator.finish();
      process.exit(0);
    }
  };
  process.on('message', (message) => {
    handle(message as LabMessage).catch(fail);
  });
  tell({ kind: 'ready', report });
}

process.on('disconnect', () => process.exit(1));
// Ctrl-C reaches the whole process group; the lab heals, stops the storm and says when to end.
process.on('SIGINT', () => undefined);
process.on('uncaughtException', fail);
main().catch(fail);
