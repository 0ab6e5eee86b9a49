/** How one server of a stack is started, again and again on the same address and data. Kept as JSON beside its data for later labs. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import type { ServerName } from '../../facts/stack-description.js';

export interface ServerLaunch {
  readonly name: ServerName;
  readonly command: string;
  readonly args: readonly string[];
  readonly workingFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly logFile: string;
  readonly postgresData: string | null;
}

function launchFile(directory: string, name: ServerName): string {
  return join(directory, `${name}.launch.json`);
}

export async function saveLaunch(directory: string, launch: ServerLaunch): Promise<void> {
  await writeFile(launchFile(directory, launch.name), JSON.stringify(launch), { mode: 0o600 });
}

/** LabError STACK_GONE when the folder of the stack is not there any more. */
export async function loadLaunch(directory: string, name: ServerName): Promise<ServerLaunch> {
  try {
    return JSON.parse(await readFile(launchFile(directory, name), 'utf8')) as ServerLaunch;
  } catch (cause) {
    throw new LabError('STACK_GONE', `the folder ${directory} of the stack is gone`, 'start a stack with `npx seckill-lab up`', { cause });
  }
}
