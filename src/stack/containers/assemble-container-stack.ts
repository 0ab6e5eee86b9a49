/** A stack of containers in the hands of a lab: the common handle, with its servers in an engine instead of under the reaper. */
import type { ServerName, StackDescription } from '../../facts/stack-description.js';
import type { NetworkTarget } from '../../facts/targets.js';
import { assembleStack } from '../local/local-stack.js';
import type { PortPlan } from '../local/port-plan.js';
import type { ReaperClient } from '../local/reaper-client.js';
import type { ToxiproxyApi } from '../local/toxiproxy-api.js';
import type { RunningStack } from '../running-stack.js';
import { addressBook } from './container-plan.js';
import type { Docker } from './engine.js';
import type { ServerContainer } from './server-container.js';
import { removeStack } from './sweep-engine.js';

/** File in the stack's folder: the ports of its plan, in order. */
export const PORTS_FILE = 'ports.json';

export interface ContainerStackParts {
  readonly reaper: ReaperClient;
  readonly docker: Docker;
  readonly description: StackDescription;
  readonly ports: PortPlan;
  readonly servers: ReadonlyMap<ServerName, ServerContainer>;
  readonly toxiproxy: ToxiproxyApi;
  readonly isOwner: boolean;
  readonly stopListening: () => void;
  onNote(text: string): void;
}

export function assembleContainerStack(parts: ContainerStackParts): RunningStack {
  const { reaper, docker, description, ports, servers, toxiproxy, isOwner } = parts;
  const inside = addressBook(ports);
  return assembleStack({
    reaper,
    description,
    servers,
    networkOf: (name) => networkOf(servers, name),
    toxiproxy,
    isOwner,
    replicationListen: { host: '127.0.0.1', port: ports.replicationProxy },
    pidOf: () => null,
    amongServers: (address) => inside(address.port) ?? address,
    endServers: async () => {
      parts.stopListening();
      const { problems } = await removeStack(docker, description.id, false);
      // Nothing is left for the reaper to remove, so it need not look.
      if (problems.length === 0 && !reaper.isGone()) await reaper.request({ op: 'at-end', program: null }).catch(() => undefined);
      return problems;
    },
    letGo: () => {
      parts.stopListening();
    },
    onNote: (text) => {
      parts.onNote(text);
    },
  });
}

function networkOf(servers: ContainerStackParts['servers'], name: ServerName): NetworkTarget {
  const server = servers.get(name);
  if (server === undefined) throw new Error(`no server ${name}`);
  return server;
}
