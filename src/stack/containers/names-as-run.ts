/**
 * Names of images as the engine is asked for them. A site with a mirror puts TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX before names without a registry; what is
 * looked up, pulled, run and written down has to be one and the same image, so the prefix is put here and nowhere else.
 */
import { ImageName } from 'testcontainers';

import { candidates, STAND_IN_PREFIX } from './image-choice.js';
import type { ImageRole, ImageWishes } from './image-choice.js';

/** In the order of `candidates`. */
export function candidatesAsRun(role: ImageRole, wishes: ImageWishes): readonly string[] {
  return candidates(role, wishes).map(asRun);
}

/** Stand-ins are made on the engine itself and in no registry. */
function asRun(name: string): string {
  return name.startsWith(`${STAND_IN_PREFIX}/`) ? name : ImageName.fromString(name).string;
}

/** For testcontainers: the image with this content, whatever its names have become since. */
export class ImageByContent extends ImageName {
  override readonly string: string;

  constructor(id: string) {
    super(undefined, id, 'latest');
    this.string = id;
  }
}
