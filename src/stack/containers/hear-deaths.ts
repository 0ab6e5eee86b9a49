/** Hears from the engine of every container of a stack that ends, and tells of those that nobody here has ended. */
import { PassThrough, pipeline } from 'node:stream';

import type { ServerName } from '../../facts/stack-description.js';
import { readLines } from '../local/reaper-protocol.js';
import type { OpenOptions } from '../running-stack.js';
import type { Docker } from './engine.js';
import { STACK_LABEL } from './labels.js';
import type { ServerContainer } from './server-container.js';

export interface DeathWatch {
  /** Until then a death is the business of whoever starts the servers. Tells of those that are dead by now, where somebody wants to hear it. */
  readonly begin: () => Promise<void>;
  readonly stop: () => void;
}

interface DieEvent {
  readonly Actor: { readonly ID: string };
  readonly timeNano: number;
}

/** A connection that breaks is told too (the engine was started again, or something between has cut it): from then on a death would go unheard. */
export async function hearDeaths(docker: Docker, stackId: string, servers: ReadonlyMap<ServerName, ServerContainer>, options: OpenOptions): Promise<DeathWatch> {
  let listening = false;
  /** When a look has found them dead; the event of that death may still be on its way. */
  const toldAtMs = new Map<ServerName, number>();
  const tell = async (server: ServerContainer): Promise<void> => {
    const words = await server.lastWords();
    if (options.onServerDeath === undefined) options.onNote?.(`${server.name} has died`);
    else options.onServerDeath(server.name, words);
  };
  const onDeath = async ({ Actor, timeNano }: DieEvent): Promise<void> => {
    for (const server of servers.values()) {
      // Whole milliseconds on both sides: a death is told to the nanosecond, and would be later than the look that found it, which is told to the millisecond.
      if (!server.hasDied(Actor.ID) || !listening || Math.floor(timeNano / 1e6) <= (toldAtMs.get(server.name) ?? 0)) continue;
      await tell(server);
    }
  };
  const events = await docker.getEvents({ filters: { type: ['container'], event: ['die'], label: [`${STACK_LABEL}=${stackId}`] } });
  // A readable of our own: the engine's answer is one only by its shape.
  const stream = new PassThrough();
  let isBroken = false;
  pipeline(events, stream, () => {
    isBroken = true;
    if (listening) options.onDeathsUnheard?.();
  });
  readLines(stream, (line) => {
    void onDeath(JSON.parse(line) as DieEvent);
  });
  return {
    begin: async () => {
      listening = true;
      if (isBroken) options.onDeathsUnheard?.();
      if (options.onServerDeath === undefined) return;
      await Promise.all([...servers.values()].map(async (server) => {
        if (await server.isRunning()) return;
        toldAtMs.set(server.name, Date.now());
        await tell(server);
      }));
    },
    stop: () => {
      listening = false;
      stream.destroy();
    },
  };
}
