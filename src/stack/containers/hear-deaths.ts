/** Hears from the engine of every container of a stack that ends, and tells of those that nobody here has ended. */
import { PassThrough, pipeline } from 'node:stream';

import type { ServerName } from '../../facts/stack-description.js';
import { readLines } from '../local/reaper-protocol.js';
import type { OpenOptions } from '../running-stack.js';
import type { Docker } from './engine.js';
import { STACK_LABEL } from './labels.js';
import type { ServerContainer } from './server-container.js';

export interface DeathWatch {
  /** Until then a death is the business of whoever starts the servers. */
  readonly begin: () => void;
  readonly stop: () => void;
}

/** A connection that breaks says nothing: the engine is gone then, and every call on it says so. */
export async function hearDeaths(docker: Docker, stackId: string, servers: ReadonlyMap<ServerName, ServerContainer>, options: OpenOptions): Promise<DeathWatch> {
  let listening = false;
  const onDeath = async (containerId: string): Promise<void> => {
    for (const server of servers.values()) {
      if (!server.hasDied(containerId) || !listening) continue;
      const words = await server.lastWords();
      if (options.onServerDeath === undefined) options.onNote?.(`${server.name} has died`);
      else options.onServerDeath(server.name, words);
    }
  };
  const events = await docker.getEvents({ filters: { type: ['container'], event: ['die'], label: [`${STACK_LABEL}=${stackId}`] } });
  // A readable of our own: the engine's answer is one only by its shape.
  const stream = new PassThrough();
  pipeline(events, stream, () => undefined);
  readLines(stream, (line) => {
    const { Actor } = JSON.parse(line) as { Actor: { ID: string } };
    void onDeath(Actor.ID);
  });
  return {
    begin: () => {
      listening = true;
    },
    stop: () => {
      listening = false;
      stream.destroy();
    },
  };
}
