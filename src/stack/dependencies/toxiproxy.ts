/** toxiproxy-server, built by Go from its module when it is not on PATH. */
import { execFileSync } from 'node:child_process';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import { TOXIPROXY_VERSION } from '../cache-folder.js';
import { plainEnvironment } from '../workshop.js';
import type { Workshop } from '../workshop.js';
import { found, missing } from './dependency.js';
import type { Dependency } from './dependency.js';
import { findToxiproxy, toxiproxyFolder } from './find-toxiproxy.js';
import { findOnPath, isExecutable } from './search-path.js';

/** What 2.12.0 says in its go.mod. */
const MINIMAL_GO_MINOR = 23;
/** The last version that Debian 12's own Go 1.19 builds; the API and the counters used here are the same. */
const VERSION_FOR_OLD_GO = '2.8.0';

/** On PATH, else where Go's own installer puts it. */
export function findGo(): string | null {
  const usual = '/usr/local/go/bin/go';
  return findOnPath('go') ?? (isExecutable(usual) ? usual : null);
}

/** The version of Toxiproxy that this Go can build. `go version go1.19.8 linux/amd64` → 2.8.0. */
export function buildableVersion(goVersionOutput: string): string {
  const minor = Number(/go1\.(\d+)/.exec(goVersionOutput)?.[1] ?? 0);
  return minor >= MINIMAL_GO_MINOR || /go[2-9]\./.test(goVersionOutput) ? TOXIPROXY_VERSION : VERSION_FOR_OLD_GO;
}

export const toxiproxy: Dependency = {
  name: 'toxiproxy',
  look: (cache) => {
    const installed = findToxiproxy(cache);
    if (installed === null) return missing('toxiproxy-server is neither on PATH nor in the cache');
    return found(`toxiproxy-server${installed.version === null ? '' : ` ${installed.version}`} (${installed.path})`);
  },
  // Without recommended packages Go comes with no certificates to trust a registry by.
  lackingPackages: (cache) => (findToxiproxy(cache) === null && findGo() === null ? ['golang-go', 'ca-certificates'] : []),
  fetch: build,
};

async function build(workshop: Workshop): Promise<void> {
  if (findToxiproxy(workshop.cache) !== null) return;
  const go = findGo();
  if (go === null) throw new LabError('MISSING_DEPENDENCY', 'Go is needed to build toxiproxy-server and is not on PATH', 'npx seckill-lab install --with-deps (as root on Debian), or install Go');
  const version = buildableVersion(execFileSync(go, ['version'], { encoding: 'utf8', env: { ...process.env, GOTOOLCHAIN: 'local' } }));
  workshop.note(`building toxiproxy-server ${version} with ${go} (about 40 s the first time)`);
  const folder = await workshop.scratch();
  const made = join(folder, 'toxiproxy');
  await mkdir(made);
  // Without a home Go does not know where to keep modules. GOTOOLCHAIN: no download of another Go behind the user's back.
  const home = process.env['HOME'] === undefined ? { GOPATH: join(folder, 'go'), GOCACHE: join(folder, 'go-build') } : {};
  const env = plainEnvironment({ ...home, GOBIN: made, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' });
  await workshop.run(go, ['install', '-modcacherw', `github.com/Shopify/toxiproxy/v2/cmd/server@v${version}`], { env });
  await rename(join(made, 'server'), join(made, 'toxiproxy-server'));
  await workshop.publish(made, toxiproxyFolder(workshop.cache, version));
}
