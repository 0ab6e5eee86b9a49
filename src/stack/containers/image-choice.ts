/**
 * Which image each server runs from. Pinned by default to the versions that `local` runs; names, tags and digests can be chosen by
 * `--image server=name` and by a JSON file of the same pairs.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { z } from 'zod';

import { LabError } from '../../facts/lab-error.js';
import { KAFKA_VERSION, TOXIPROXY_VERSION } from '../cache-folder.js';

export const IMAGE_ROLES = ['redis', 'postgres', 'kafka', 'toxiproxy', 'roles'] as const;
export type ImageRole = (typeof IMAGE_ROLES)[number];

/** What was asked for, per server; absent: the default. */
export type ImageWishes = Readonly<Partial<Record<ImageRole, string>>>;

/** Read when it is there and no other file is named. */
export const DEFAULT_IMAGES_FILE = 'seckill-lab.images.json';
export const STAND_IN_PREFIX = 'seckill-lab';

export const OFFICIAL_IMAGES: Readonly<Record<Exclude<ImageRole, 'roles'>, string>> = {
  redis: 'redis:7.0.15',
  postgres: 'postgres:18.4',
  kafka: `apache/kafka:${KAFKA_VERSION}`,
  toxiproxy: `ghcr.io/shopify/toxiproxy:${TOXIPROXY_VERSION}`,
};

/** Made by `seckill-lab images build`. The tag says what it stands in for. */
export const STAND_IN_IMAGES: Readonly<Record<ImageRole, string>> = {
  redis: `${STAND_IN_PREFIX}/redis:7`,
  postgres: `${STAND_IN_PREFIX}/postgres:18`,
  kafka: `${STAND_IN_PREFIX}/kafka:${KAFKA_VERSION}`,
  toxiproxy: `${STAND_IN_PREFIX}/toxiproxy:${TOXIPROXY_VERSION}`,
  roles: `${STAND_IN_PREFIX}/roles:latest`,
};

/** In the order in which they are looked for on the engine; when none is there the first is pulled. */
export function candidates(role: ImageRole, wishes: ImageWishes): readonly string[] {
  const wish = wishes[role];
  if (wish !== undefined) return [wish];
  return role === 'roles' ? [STAND_IN_IMAGES.roles] : [OFFICIAL_IMAGES[role], STAND_IN_IMAGES[role]];
}

/** A reference as Docker writes it: `[registry/]name[:tag][@sha256:…]`. */
const REFERENCE = /^[a-z0-9]+([._:/-]+[a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:[0-9a-f]{64})?$/;
const fileShape = z.partialRecord(z.enum(IMAGE_ROLES), z.string());

/** @param pairs values of `--image`. @param file of `--images-file`; null: the default file if it is there. LabError USAGE naming every problem. */
export function readImageWishes(pairs: readonly string[], file: string | null): ImageWishes {
  const problems: string[] = [];
  const wishes: Partial<Record<ImageRole, string>> = { ...wishesOfFile(file, problems) };
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const role = IMAGE_ROLES.find((known) => known === pair.slice(0, at));
    if (role === undefined) problems.push(`--image ${pair}: must be one of ${IMAGE_ROLES.join(', ')}, then = and the image`);
    else wishes[role] = pair.slice(at + 1);
  }
  for (const [role, name] of Object.entries(wishes)) if (!REFERENCE.test(name)) problems.push(`the image of ${role}, ${JSON.stringify(name)}, is no image name`);
  if (problems.length > 0) throw new LabError('USAGE', problems.join('\n  '), 'such as --image redis=redis:7.2.5, or {"redis": "redis:7.2.5"} in a file');
  return wishes;
}

function wishesOfFile(file: string | null, problems: string[]): ImageWishes {
  const path = resolve(file ?? DEFAULT_IMAGES_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (file !== null || (error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push(`${path} cannot be read`);
    return {};
  }
  try {
    return fileShape.parse(JSON.parse(text));
  } catch (error) {
    problems.push(`${path} is no list of images: ${error instanceof z.ZodError ? error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('; ') : String(error)}`);
    return {};
  }
}
