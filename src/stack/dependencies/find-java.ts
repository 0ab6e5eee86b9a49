/** The Java that would run Kafka. */
import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { findOnPath, isExecutable } from './search-path.js';

export interface FoundJava {
  readonly path: string;
  /** `17.0.15`. */
  readonly version: string;
  readonly major: number;
}

/** JAVA_HOME's, else the one on PATH; null when there is none that runs. */
export function findJava(): FoundJava | null {
  const home = process.env['JAVA_HOME'];
  const fromHome = home === undefined || home === '' ? null : join(home, 'bin', 'java');
  const path = fromHome !== null && isExecutable(fromHome) ? fromHome : findOnPath('java');
  if (path === null) return null;
  const version = versionFromReleaseFile(path) ?? versionFromRunning(path);
  return version === null ? null : { path, version, major: majorOf(version) };
}

/** `1.8.0_392` is Java 8. */
export function majorOf(version: string): number {
  const [first, second] = version.split(/[._+-]/);
  return first === '1' ? Number(second) : Number(first);
}

/** Every JDK and JRE since 9 has a file `release` at its root; reading it spares the 40 ms of starting a machine. */
function versionFromReleaseFile(path: string): string | null {
  try {
    const text = readFileSync(join(dirname(dirname(realpathSync(path))), 'release'), 'utf8');
    return /^JAVA_VERSION="([^"]+)"/m.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

function versionFromRunning(path: string): string | null {
  try {
    const text = execFileSync(path, ['-XshowSettings:properties', '-version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return /java\.version = (\S+)/.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}
