/** One `docker build`, by the engine's API: the context as a tar stream, its progress watched for the failure that it ends with. */
import { spawn } from 'node:child_process';

import { LabError } from '../../facts/lab-error.js';
import type { Docker } from '../containers/engine.js';
import { followProgress } from '../containers/follow-progress.js';
import { lastLines } from '../workshop.js';

export interface BuildOrder {
  readonly folder: string;
  /** Files and folders of it that go along; absent: all. */
  readonly only?: readonly string[];
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly buildArguments: Readonly<Record<string, string>>;
}

/** Resolves with the id of the image. LabError INSTALL_FAILED with the last lines of the build. */
export async function buildImage(docker: Docker, { folder, only, name, labels, buildArguments }: BuildOrder): Promise<string> {
  const archive = spawn('tar', ['-C', folder, '--owner=0', '--group=0', '--numeric-owner', '-c', ...(only ?? ['.'])], { stdio: ['ignore', 'pipe', 'inherit'] });
  const output: string[] = [];
  // No network: all that goes into an image is in its context.
  try {
    const stream = await docker.buildImage(archive.stdout, { t: name, labels: { ...labels }, buildargs: { ...buildArguments }, forcerm: true, networkmode: 'none' });
    await followProgress(docker, stream, ({ stream: text }) => {
      if (text !== undefined) output.push(text);
    });
  } catch (cause) {
    const details = lastLines(output.join(''), 12);
    throw new LabError('INSTALL_FAILED', `${name} cannot be built: ${cause instanceof Error ? cause.message : String(cause)}`, 'mend what it says below and run the command again', { cause, details });
  } finally {
    archive.kill();
  }
  return (await docker.getImage(name).inspect()).Id;
}
