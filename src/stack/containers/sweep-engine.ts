/**
 * Removes what carries the lab's labels: containers with their anonymous volumes, then networks and volumes. Used at the end of a stack, by
 * its reaper when the lab was killed, at the next start, and by `seckill-lab clean`.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Docker } from './engine.js';
import { OWNER_LABEL, ownerState, PART_LABEL, STACK_LABEL } from './labels.js';
import type { OwnerState } from './labels.js';

export interface LabelledThing {
  readonly kind: 'container' | 'network' | 'volume';
  readonly id: string;
  /** For people: its name, and which server it is. */
  readonly name: string;
  readonly stackId: string;
  readonly owner: OwnerState;
}

/** Everything of the lab on this engine. @param stackId null: of all stacks. */
export async function labelledThings(docker: Docker, stackId: string | null): Promise<LabelledThing[]> {
  const filters = { label: [stackId === null ? STACK_LABEL : `${STACK_LABEL}=${stackId}`] };
  const [containers, networks, volumes] = await Promise.all([docker.listContainers({ all: true, filters }), docker.listNetworks({ filters }), docker.listVolumes({ filters })]);
  const thing = (kind: LabelledThing['kind'], id: string, name: string, labels: Readonly<Record<string, string>> | undefined): LabelledThing => ({
    kind,
    id,
    name: `${name.replace(/^\//, '')}${labels?.[PART_LABEL] === undefined ? '' : ` (${labels[PART_LABEL]})`}`,
    stackId: labels?.[STACK_LABEL] ?? '',
    owner: ownerState(labels?.[OWNER_LABEL]),
  });
  return [
    ...containers.map(({ Id, Names, Labels }) => thing('container', Id, Names[0] ?? Id.slice(0, 12), Labels)),
    ...networks.map(({ Id, Name, Labels }) => thing('network', Id, Name, Labels)),
    // An engine without volumes answers null.
    ...(volumes.Volumes as typeof volumes.Volumes | null ?? []).map(({ Name, Labels }) => thing('volume', Name, Name, Labels)),
  ];
}

/** Between a removal that was refused and the next. */
const RETRY_MS = 200;
/** A request of a lab that was killed may still be on its way into the engine: the look that finds nothing is repeated after this. */
const SETTLE_MS = 300;
const SWEEP_LIMIT_MS = 30_000;

export interface Sweep {
  readonly removed: readonly LabelledThing[];
  /** What is still there, in words. */
  readonly problems: readonly string[];
}

/**
 * Removes one stack and comes back until nothing of it is seen.
 * @param mayStillGrow its lab was killed, perhaps in the middle of a request: looks once more after a moment.
 */
export async function removeStack(docker: Docker, stackId: string, mayStillGrow: boolean, limitMs = SWEEP_LIMIT_MS): Promise<Sweep> {
  const asked = new Map<string, LabelledThing>();
  const limit = Date.now() + limitMs;
  let emptyLooks = 0;
  for (;;) {
    const left = await labelledThings(docker, stackId);
    emptyLooks = left.length === 0 ? emptyLooks + 1 : 0;
    if (emptyLooks > (mayStillGrow ? 1 : 0)) return { removed: [...asked.values()], problems: [] };
    if (left.length > 0) {
      const refusals = await removeThings(docker, left, asked);
      if (Date.now() > limit) return whatIsLeft(await labelledThings(docker, stackId), asked, refusals, limitMs);
      if (refusals.size > 0) await delay(RETRY_MS);
    } else await delay(SETTLE_MS);
  }
}

/** What counts is what is seen: an engine that says for ever that a removal is under way has removed nothing. */
function whatIsLeft(left: readonly LabelledThing[], asked: ReadonlyMap<string, LabelledThing>, refusals: ReadonlyMap<string, string>, limitMs: number): Sweep {
  const problems = left.map(({ kind, id, name }) => `${kind} ${name} is still there after ${String(Math.ceil(limitMs / 1_000))} s${refusals.has(id) ? `: ${refusals.get(id) ?? ''}` : ''}`);
  return { removed: [...asked.values()].filter(({ id }) => !left.some((thing) => thing.id === id)), problems };
}

/** Resolves with what the engine answered instead of removing, by id. What is gone already is no refusal. */
async function removeThings(docker: Docker, things: readonly LabelledThing[], asked: Map<string, LabelledThing>): Promise<Map<string, string>> {
  const refusals = new Map<string, string>();
  const one = async (thing: LabelledThing): Promise<void> => {
    try {
      await remove(docker, thing);
      asked.set(thing.id, thing);
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode !== 404) refusals.set(thing.id, error instanceof Error ? error.message : String(error));
    }
  };
  // A network goes when nothing is in it any more.
  for (const kind of ['container', 'network', 'volume'] as const) await Promise.all(things.filter((thing) => thing.kind === kind).map(one));
  return refusals;
}

function remove(docker: Docker, { kind, id }: LabelledThing): Promise<unknown> {
  switch (kind) {
    case 'container':
      return docker.getContainer(id).remove({ force: true, v: true });
    case 'network':
      return docker.getNetwork(id).remove();
    case 'volume':
      return docker.getVolume(id).remove({ force: true });
  }
}

/** Removes the stacks whose owner on this machine is dead; those of living labs and of other machines are not touched. */
export async function sweepDeadStacks(docker: Docker): Promise<Sweep> {
  const dead = new Set((await labelledThings(docker, null)).filter((thing) => thing.owner === 'dead').map((thing) => thing.stackId));
  const sweeps = await Promise.all([...dead].map((stackId) => removeStack(docker, stackId, false)));
  return { removed: sweeps.flatMap((sweep) => sweep.removed), problems: sweeps.flatMap((sweep) => sweep.problems) };
}
