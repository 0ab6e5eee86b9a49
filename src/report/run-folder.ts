/** The run store on disk: `reports/<scenario>/<UTC>-<seed>/`. Made and tried before anything starts, so that no run ends without a place for its facts. */
import { appendFileSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import type { Facts } from '../facts/facts.js';
import type { LabError } from '../facts/lab-error.js';
import type { LabEvent } from '../facts/lab-event.js';
import type { Manifest, RunStore } from '../facts/run-store.js';
import type { RunVerdict } from '../facts/verdict.js';
import { RUN_FILES } from './run-layout.js';
import { saveFacts } from './save-facts.js';
import { saveVerdict } from './save-verdict.js';
import { unusable, writeDocument } from './write-file.js';

/** `20260102T030405Z-42`: sorts by time, holds no character that a shell or a file system minds. */
export function runFolderName(startedAt: Date | string, seed: number): string {
  return `${new Date(startedAt).toISOString().replace(/\.\d+Z$/, 'Z').replace(/[-:]/g, '')}-${String(seed)}`;
}

/** Makes a folder and its parents. Not Node's `recursive`, which tries for ever where folders cannot be made at all, as in `/proc`. */
async function makeFolders(path: string): Promise<void> {
  const existing = await stat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
  if (existing?.isDirectory() === true) return;
  if (existing === null && dirname(path) !== path) await makeFolders(dirname(path));
  await mkdir(path).catch((error: unknown) => {
    // Another run may have made it in between; a file of that name fails at the next mkdir inside.
    if (existing !== null || (error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}

/** Makes the folder; a second run in the same second with the same seed gets `-2` and so on, and never another run's folder. */
async function makeFreshFolder(parent: string, name: string, inside: readonly string[]): Promise<string> {
  try {
    await makeFolders(parent);
    for (let attempt = 1; ; attempt += 1) {
      const directory = join(parent, attempt === 1 ? name : `${name}-${String(attempt)}`);
      try {
        await mkdir(directory);
        for (const folder of inside) await mkdir(join(directory, folder));
        return directory;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  } catch (error) {
    throw unusable(parent, error);
  }
}

class RunFolder implements RunStore {
  readonly directory: string;
  #firstEventFailure: LabError | null = null;

  constructor(directory: string) {
    this.directory = directory;
  }

  async saveManifest(manifest: Manifest): Promise<void> {
    await writeDocument(this.directory, RUN_FILES.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
  }

  appendEvent(event: LabEvent): void {
    const path = join(this.directory, RUN_FILES.events);
    try {
      appendFileSync(path, `${JSON.stringify(event)}\n`);
    } catch (error) {
      // Events come from the middle of a fault; throwing there would keep it from being healed. `saveVerdict` tells it.
      this.#firstEventFailure ??= unusable(path, error);
    }
  }

  async saveFacts(facts: Facts): Promise<void> {
    await saveFacts(this.directory, facts);
  }

  async saveVerdict(verdict: RunVerdict): Promise<void> {
    await saveVerdict(this.directory, verdict);
    if (this.#firstEventFailure !== null) throw this.#firstEventFailure;
  }
}

/** Makes a fresh run folder; `startedAt` is a `Date` or its ISO text. Rejects with `LabError` REPORT_FOLDER_UNUSABLE when it cannot be made or written. */
export async function createRunFolder(baseDirectory: string, scenario: string, startedAt: Date | string, seed: number): Promise<RunStore> {
  const directory = await makeFreshFolder(resolve(baseDirectory, scenario), runFolderName(startedAt, seed), [RUN_FILES.facts, RUN_FILES.logs]);
  // Creating folders does not show that files can be written (quota, read-only bind mounts); the first event line does.
  const events = join(directory, RUN_FILES.events);
  try {
    appendFileSync(events, '');
  } catch (error) {
    throw unusable(events, error);
  }
  return new RunFolder(directory);
}

/** Makes a fresh, empty folder of that kind of report: `<base>/<kind>/<UTC>-<seed>/`. Rejects like `createRunFolder`. */
export function makeReportFolder(baseDirectory: string, kind: string, startedAt: Date | string, seed: number): Promise<string> {
  return makeFreshFolder(resolve(baseDirectory, kind), runFolderName(startedAt, seed), []);
}
