/** Debian packages, by apt-get, as root. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

import { LabError } from '../../facts/lab-error.js';
import { findOnPath } from '../dependencies/search-path.js';
import { lastLines, plainEnvironment } from '../workshop.js';

/** Why packages cannot be installed here; null when they can. */
export function aptProblem(): string | null {
  if (!existsSync('/etc/debian_version') || findOnPath('apt-get') === null) return 'this is no Debian system';
  return process.getuid?.() === 0 ? null : 'Debian packages need root';
}

/**
 * Installs packages that start no service. Not under the reaper: a killed dpkg leaves a broken package database, so when the lab is
 * killed here, apt-get still ends its work.
 */
export async function installPackages(packages: readonly string[], note: (text: string) => void): Promise<void> {
  note('apt-get update');
  await runApt(['update', '-qq']);
  note(`apt-get install ${packages.join(' ')}`);
  await runApt(['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...packages]);
}

function runApt(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('apt-get', [...args], { stdio: ['ignore', 'pipe', 'pipe'], env: plainEnvironment({ DEBIAN_FRONTEND: 'noninteractive' }) });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-10_000)));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new LabError('INSTALL_FAILED', `apt-get ${args[0] ?? ''} failed (exit code ${String(code)})`, 'mend what it says below and run the command again', { details: lastLines(output, 12) }));
    });
  });
}
