/**
 * Makes stand-ins for the official images on a machine without a registry: one Debian base, and on it one thin image per server. An image carries the
 * digest of its recipe as a label; one whose recipe has not changed is not made again.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import { usableCacheFolder } from '../cache-folder.js';
import { withCacheLock } from '../cache-lock.js';
import { reachEngine } from '../containers/engine.js';
import type { Docker } from '../containers/engine.js';
import { followProgress } from '../containers/follow-progress.js';
import { STAND_IN_IMAGES, STAND_IN_PREFIX } from '../containers/image-choice.js';
import { launchReaper } from '../local/reaper-client.js';
import { openWorkshop } from '../workshop.js';
import type { Workshop } from '../workshop.js';
import { prepareBaseArchive } from './base-image.js';
import { buildImage } from './build-image.js';
import { buildRolesImage, NODE_IMAGE } from './roles-image.js';
import { BUILD_ARGUMENTS, fillContext, ingredientsOf, STAND_INS, standInFolder } from './stand-in-contexts.js';
import type { StandIn } from './stand-in-contexts.js';

export interface BuiltImage {
  readonly name: string;
  readonly id: string;
  readonly isNew: boolean;
}

export interface BuildOptions {
  /** Also the image of the role processes. */
  readonly withRoles: boolean;
  onNote(text: string): void;
}

export const RECIPE_LABEL = 'seckill-lab.recipe';
const BASE_NAME = `${STAND_IN_PREFIX}/base`;

/** Rejects with LabError MISSING_DEPENDENCY (engine, debootstrap, a server's files) or INSTALL_FAILED with the last words of what failed. */
export async function buildImages(options: BuildOptions): Promise<readonly BuiltImage[]> {
  const { docker } = await reachEngine();
  const cache = usableCacheFolder();
  const onWait = (): void => {
    options.onNote('waiting for another seckill-lab that is preparing the cache');
  };
  return withCacheLock(cache, onWait, async () => {
    const reaper = launchReaper('images');
    try {
      const workshop = openWorkshop(reaper, cache, (text) => {
        options.onNote(text);
      });
      const base = await importBase(docker, workshop);
      const built: BuiltImage[] = [];
      // One after the other: they share the disk.
      for (const standIn of STAND_INS) built.push(await buildStandIn(docker, workshop, base, standIn));
      if (options.withRoles) built.push(await buildRolesImage(docker, workshop));
      return built;
    } finally {
      await reaper.request({ op: 'end' }).catch(() => undefined);
      await reaper.waitUntilGone();
      reaper.release();
    }
  });
}

/** Name of the base on the engine; its tag is the recipe. */
async function importBase(docker: Docker, workshop: Workshop): Promise<string> {
  const archive = await prepareBaseArchive(workshop);
  const tag = basename(archive, '.tar').replace('image-base-', '');
  const name = `${BASE_NAME}:${tag}`;
  if ((await recipeOnEngine(docker, name)) !== null) return name;
  workshop.note(`importing ${name}`);
  const stream = await docker.importImage(archive, { repo: BASE_NAME, tag, fromSrc: '-' });
  try {
    await followProgress(docker, stream, () => undefined);
  } catch (cause) {
    throw new LabError('INSTALL_FAILED', `the base image cannot be imported: ${cause instanceof Error ? cause.message : String(cause)}`, 'mend what it says and run the command again', { cause });
  }
  return name;
}

async function buildStandIn(docker: Docker, workshop: Workshop, base: string, standIn: StandIn): Promise<BuiltImage> {
  const name = standIn === 'node' ? NODE_IMAGE : STAND_IN_IMAGES[standIn];
  const recipe = await recipeOf(standIn, base, workshop.cache);
  const there = await recipeOnEngine(docker, name);
  if (there?.recipe === recipe) return { name, id: there.id, isNew: false };
  workshop.note(`building ${name}`);
  const folder = join(await workshop.scratch(), standIn);
  await cp(standInFolder(standIn), folder, { recursive: true });
  await fillContext(standIn, folder, workshop);
  const id = await buildImage(docker, { folder, name, labels: { [RECIPE_LABEL]: recipe }, buildArguments: { BASE: base, ...BUILD_ARGUMENTS[standIn] } });
  await rm(folder, { recursive: true, force: true });
  return { name, id, isNew: true };
}

async function recipeOf(standIn: StandIn, base: string, cache: string): Promise<string> {
  const hash = createHash('sha256').update(`${base}\n${ingredientsOf(standIn, cache)}\n`);
  for (const file of (await readdir(standInFolder(standIn))).sort()) hash.update(`${file}\n`).update(readFileSync(join(standInFolder(standIn), file)));
  return hash.digest('hex').slice(0, 16);
}

/** null when there is no such image. */
export async function recipeOnEngine(docker: Docker, name: string): Promise<{ id: string; recipe: string } | null> {
  try {
    const { Id, Config } = await docker.getImage(name).inspect();
    return { id: Id, recipe: (Config.Labels as Record<string, string> | null)?.[RECIPE_LABEL] ?? '' };
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 404) return null;
    throw error;
  }
}
