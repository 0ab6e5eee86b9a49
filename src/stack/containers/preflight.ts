/** What is looked at before any container starts: an engine, room on its disk, every image there or pullable. All that is missing is one error. */
import { LabError } from '../../facts/lab-error.js';
import { freeBytes, reachEngine } from './engine.js';
import type { Engine } from './engine.js';
import type { ImageRole, ImageWishes } from './image-choice.js';
import { candidatesAsRun } from './names-as-run.js';
import { findImage, pullImage } from './pull-image.js';
import type { FoundImage } from './pull-image.js';

/** The data of five servers in a storm, and what a pull unpacks. */
export const ROOM_NEEDED_BYTES = 2 * 1024 ** 3;
const BUILD = '`npx seckill-lab images build` makes stand-ins without a registry';

export interface Ready<R extends ImageRole> {
  readonly engine: Engine;
  readonly images: Readonly<Record<R, FoundImage>>;
}

/**
 * Pulls what is not there, telling how far it is; nothing where room is lacking already.
 * LabError MISSING_DEPENDENCY naming everything that is missing and what mends it; ABORTED, or the reason of the signal where that is a LabError.
 */
export async function preflight<R extends ImageRole>(roles: readonly R[], wishes: ImageWishes, onNote: (text: string) => void, signal?: AbortSignal): Promise<Ready<R>> {
  const engine = await reachEngine();
  const problems: string[] = [];
  const room = await freeBytes(engine);
  if (room !== null && room < ROOM_NEEDED_BYTES) {
    problems.push(`${mebibytes(room)} free in ${engine.dataFolder}, ${mebibytes(ROOM_NEEDED_BYTES)} needed: \`docker system prune\` or another data folder makes room`);
  }
  const pull = problems.length > 0 ? null : (name: string) => pullImage(engine, name, { onNote, signal });
  const found = await Promise.all(roles.map(async (role) => {
    try {
      return [role, await thereOrPulled(engine, role, wishes, pull)] as const;
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
      return null;
    }
  }));
  if (signal?.aborted === true) throw signal.reason instanceof LabError ? signal.reason : new LabError('ABORTED', 'aborted before the stack was started', 'start it again');
  if (problems.length > 0) {
    const [first = '', ...others] = problems;
    throw new LabError('MISSING_DEPENDENCY', `the stack cannot start in containers: ${first}`, `${BUILD}; \`--image server=name\` chooses others; \`--stack local\` needs none`, { details: others });
  }
  return { engine, images: Object.fromEntries(found.filter((entry) => entry !== null)) as Readonly<Record<R, FoundImage>> };
}

/** @param pull null: there is no room for it. */
async function thereOrPulled(engine: Engine, role: ImageRole, wishes: ImageWishes, pull: ((name: string) => Promise<FoundImage>) | null): Promise<FoundImage> {
  const names = candidatesAsRun(role, wishes);
  for (const name of names) {
    const there = await findImage(engine.docker, name);
    if (there !== null) return there;
  }
  const [wanted = ''] = names;
  // The project's own image is in no registry.
  if (role === 'roles' && wishes.roles === undefined) throw new Error(`there is no image ${wanted} of the roles: \`npx seckill-lab images build --roles\` makes it`);
  if (pull === null) throw new Error(`${wanted} is not on the engine and is not pulled, for lack of room`);
  return pull(wanted);
}

function mebibytes(bytes: number): string {
  return `${String(Math.floor(bytes / 1024 ** 2))} MiB`;
}
