/** One thing a local stack needs: how to look for it, and how to get it. One file each beside this one. */
import type { Workshop } from '../workshop.js';

export type Finding =
  | { readonly state: 'found'; readonly text: string }
  /** `mend` is the command, or the sentence, that mends it. */
  | { readonly state: 'missing'; readonly text: string; readonly mend: string };

export interface Dependency {
  readonly name: string;
  /** Looks properly, running the program where only that tells. Never throws for what is merely missing. */
  look(cache: string): Finding | Promise<Finding>;
  /** Debian packages that are lacking for it now, to be used or to fetch it. */
  lackingPackages(cache: string): readonly string[];
  /** Gets what needs no package manager, says what it does, and does nothing when all is there. LabError INSTALL_FAILED. */
  fetch(workshop: Workshop): Promise<void>;
}

export const INSTALL_COMMAND = 'npx seckill-lab install --with-deps';

export function found(text: string): Finding {
  return { state: 'found', text };
}

export function missing(text: string, mend: string = INSTALL_COMMAND): Finding {
  return { state: 'missing', text, mend };
}

/** For a dependency that no download can provide. */
export const nothingToFetch = (): Promise<void> => Promise.resolve();
