/** Gets what a local stack needs and this machine lacks. Says each thing it does; does nothing twice. */
import { LabError } from '../../facts/lab-error.js';
import { usableCacheFolder } from '../cache-folder.js';
import { withCacheLock } from '../cache-lock.js';
import { ALL_DEPENDENCIES } from '../dependencies/all-dependencies.js';
import { launchReaper } from '../local/reaper-client.js';
import { openWorkshop } from '../workshop.js';
import { aptProblem, installPackages } from './debian-packages.js';

export interface InstallOptions {
  /** Debian packages too, which needs root; otherwise only what goes into the cache. */
  readonly withDeps: boolean;
  onNote(text: string): void;
}

/**
 * Resolves when every dependency was got. LabError MISSING_DEPENDENCY when packages are lacking that it may not install, INSTALL_FAILED
 * when something failed. Two at once take turns. Killed, it leaves no half-made folder: all is made aside and renamed.
 */
export async function installDependencies(options: InstallOptions): Promise<void> {
  const cache = usableCacheFolder();
  const note = (text: string): void => {
    options.onNote(text);
  };
  const onWait = (): void => {
    note('waiting for another seckill-lab that is preparing the cache');
  };
  await withCacheLock(cache, onWait, async () => {
    const problem = options.withDeps ? aptProblem() : 'no package is installed without --with-deps';
    if (problem === null && lackingPackages(cache).length > 0) await installPackages(lackingPackages(cache), note);
    await fetchAll(cache, note);
    if (problem !== null) refuseLacking(lackingPackages(cache), problem, options.withDeps);
  });
}

function lackingPackages(cache: string): string[] {
  return [...new Set(ALL_DEPENDENCIES.flatMap((dependency) => dependency.lackingPackages(cache)))];
}

/** Everything for which no package is lacking: as much as can be had is had, also where the rest is refused. */
async function fetchAll(cache: string, note: (text: string) => void): Promise<void> {
  const reaper = launchReaper('install');
  try {
    const workshop = openWorkshop(reaper, cache, note);
    for (const dependency of ALL_DEPENDENCIES) if (dependency.lackingPackages(cache).length === 0) await dependency.fetch(workshop);
  } finally {
    await reaper.request({ op: 'end' }).catch(() => undefined);
    await reaper.waitUntilGone();
    reaper.release();
  }
}

function refuseLacking(packages: readonly string[], problem: string, withDeps: boolean): void {
  if (packages.length === 0) return;
  const nextStep = withDeps ? `install by hand: ${packages.join(', ')}` : 'npx seckill-lab install --with-deps (as root on Debian), or install them by hand';
  throw new LabError('MISSING_DEPENDENCY', `lacking on this machine: ${packages.join(', ')} (${problem})`, nextStep);
}
