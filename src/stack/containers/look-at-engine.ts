/** What `doctor` tells of containers. They are a choice: without an engine nothing is missing. */
import { LabError } from '../../facts/lab-error.js';
import { freeBytes, reachEngine } from './engine.js';
import { candidatesAsRun } from './names-as-run.js';
import { findImage } from './pull-image.js';
import { ROOM_NEEDED_BYTES } from './preflight.js';

/** Lines for a person, the first without what mends it. Never throws for what is merely not there. */
export async function lookAtEngine(): Promise<readonly string[]> {
  try {
    const engine = await reachEngine();
    const lacking: string[] = [];
    for (const role of ['redis', 'postgres', 'kafka', 'toxiproxy'] as const) {
      const there = await Promise.all(candidatesAsRun(role, {}).map((name) => findImage(engine.docker, name)));
      if (there.every((image) => image === null)) lacking.push(role);
    }
    const room = await freeBytes(engine);
    const images = lacking.length === 0 ? 'all images are there' : `no image of ${lacking.join(', ')}`;
    return [
      `Docker engine ${engine.version} (${engine.address}), ${images}`,
      ...(lacking.length === 0 ? [] : ['mend: npx seckill-lab images build, or let a run pull the official ones']),
      ...(room !== null && room < ROOM_NEEDED_BYTES ? [`mend: less than ${String(ROOM_NEEDED_BYTES / 1024 ** 3)} GiB free in ${engine.dataFolder}: docker system prune`] : []),
    ];
  } catch (error) {
    if (!(error instanceof LabError)) throw error;
    return [error.message, `mend, if containers are wanted: ${error.nextStep}`];
  }
}
