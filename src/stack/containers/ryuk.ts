/**
 * Ryuk, testcontainers' own cleaner, where its image is on the engine; else the lab's cleaner alone. Ours does all that Ryuk does on this machine
 * and runs always; Ryuk adds what only a process beside the engine can do: it still cleans up when lab and reaper are killed together.
 *
 * It is not pulled: a pull that fails takes its time at every start, and an engine that has the servers from a registry usually has had Ryuk too.
 */
import type { Docker } from './engine.js';
import { findImage } from './pull-image.js';

const RYUK_IMAGE = 'testcontainers/ryuk:0.14.0';

/** Sets TESTCONTAINERS_RYUK_DISABLED, which testcontainers reads when it starts its first container; a value that is set already stays. */
export async function chooseRyuk(docker: Docker, mayOutliveLab: boolean, note: (text: string) => void): Promise<void> {
  if (process.env['TESTCONTAINERS_RYUK_DISABLED'] !== undefined) return;
  const image = process.env['RYUK_CONTAINER_IMAGE'] ?? RYUK_IMAGE;
  const isThere = !mayOutliveLab && (await findImage(docker, image)) !== null;
  if (!isThere) process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
  note(isThere ? `clean-up by Ryuk (${image}) and the lab's own reaper` : 'clean-up by the lab\'s own reaper');
}
