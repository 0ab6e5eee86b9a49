/** Which face a run gets. Ink does not look at the terminal itself: into a pipe it writes pages of escape codes. */
import type { WriteStream } from 'node:tty';

import type { Face } from './face.js';
import { startPlainFace } from './plain-progress.js';

export interface FaceWishes {
  readonly json: boolean;
  readonly plain: boolean;
}

export interface FaceSurroundings {
  /** Where progress goes, always stderr: stdout carries the result only. */
  readonly terminal: { readonly isTTY?: boolean | undefined };
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function faceNameFor(wishes: FaceWishes, surroundings: FaceSurroundings): Face['name'] {
  const { CI: ci, TERM: term } = surroundings.environment;
  const isCi = ci !== undefined && ci !== '' && ci !== '0' && ci !== 'false';
  if (wishes.json || wishes.plain || isCi || term === 'dumb' || surroundings.terminal.isTTY !== true) return 'plain';
  return 'ink';
}

/** Starts the face that fits. React and Ink are loaded only when they draw: they cost 150 ms that no CI run should pay. */
export async function startFace(wishes: FaceWishes, title: string, terminal: WriteStream, environment: NodeJS.ProcessEnv): Promise<Face> {
  if (faceNameFor(wishes, { terminal, environment }) === 'plain') return startPlainFace((text) => terminal.write(text));
  const { startInkFace } = await import('./ink-face.js');
  return startInkFace(terminal, title);
}
