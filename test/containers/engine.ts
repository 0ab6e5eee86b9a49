/** The engine of the tests of containers: DOCKER_HOST, or the usual socket. */
import { reachEngine, type Docker } from '../../src/stack/containers/engine.js';
import { labelledThings } from '../../src/stack/containers/sweep-engine.js';

export async function docker(): Promise<Docker> {
  return (await reachEngine()).docker;
}

/** Everything of the lab on the engine, in words; waits up to `boundMs` for it to become nothing. */
export async function leftOnEngine(boundMs = 0): Promise<string[]> {
  const deadline = Date.now() + boundMs;
  for (;;) {
    const left = (await labelledThings(await docker(), null)).map(({ kind, name }) => `${kind} ${name}`);
    if (left.length === 0 || Date.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Volumes without a label of ours, which containers make for themselves. */
export async function volumes(): Promise<string[]> {
  return ((await (await docker()).listVolumes()).Volumes as { Name: string }[] | null ?? []).map(({ Name }) => Name).sort();
}
