/** `seckill-lab doctor`: what is there, what is missing, and the command that mends it. */
import { ExitCode } from '../exit-codes.js';
import { cacheFolder } from '../stack/cache-folder.js';
import { ALL_DEPENDENCIES } from '../stack/dependencies/all-dependencies.js';
import type { CommandIo } from './command-io.js';

export type DoctorOptions = Readonly<Record<string, never>>;

/** 0 when nothing is missing, else 2. */
export async function runDoctor(_options: DoctorOptions, io: CommandIo): Promise<number> {
  const folder = cacheFolder();
  let missing = 0;
  for (const dependency of ALL_DEPENDENCIES) {
    const finding = await dependency.look(folder);
    io.stdout(`${finding.state === 'found' ? 'found  ' : 'missing'}  ${dependency.name}: ${finding.text}\n`);
    if (finding.state === 'found') continue;
    missing += 1;
    io.stdout(`         mend: ${finding.mend}\n`);
  }
  const { lookAtEngine } = await import('../stack/containers/look-at-engine.js');
  const [engine = '', ...mends] = await lookAtEngine();
  io.stdout(`choice   containers: ${engine}\n`);
  for (const mend of mends) io.stdout(`         ${mend}\n`);
  return missing === 0 ? ExitCode.green : ExitCode.unknown;
}
