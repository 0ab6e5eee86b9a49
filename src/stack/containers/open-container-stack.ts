/** Takes a stack of containers in hand that runs already, as described in its `stack.json`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import { SERVER_NAMES } from '../../facts/stack-description.js';
import type { ServerName, StackDescription } from '../../facts/stack-description.js';
import { proxiesFile } from '../local/local-stack.js';
import { planPorts } from '../local/port-plan.js';
import { attachReaper } from '../local/reaper-client.js';
import { REAPER_SOCKET } from '../local/reaper-protocol.js';
import { toxiproxyApi } from '../local/toxiproxy-api.js';
import type { ProxyPlan } from '../local/toxiproxy-api.js';
import type { OpenOptions, RunningStack } from '../running-stack.js';
import { assembleContainerStack, PORTS_FILE } from './assemble-container-stack.js';
import { readinessOf } from './container-readiness.js';
import { reachEngine } from './engine.js';
import { hearDeaths } from './hear-deaths.js';
import { networkName } from './labels.js';
import { serverContainer } from './server-container.js';
import type { ServerContainer } from './server-container.js';

/** `stop` ends the stack, `release` leaves it running. LabError STACK_GONE when it is not running any more, MISSING_DEPENDENCY without its engine. */
export async function openContainerStack(description: StackDescription, options: OpenOptions = {}): Promise<RunningStack> {
  const { directory, direct, id } = description;
  const reaper = await attachReaper(join(directory, REAPER_SOCKET), description.reaperPid);
  try {
    const { docker } = await reachEngine();
    const proxies = JSON.parse(await readFile(proxiesFile(directory), 'utf8')) as readonly ProxyPlan[];
    const ports = planPorts(JSON.parse(await readFile(join(directory, PORTS_FILE), 'utf8')) as readonly number[], description.lanes.length);
    const toxiproxy = toxiproxyApi(direct.toxiproxyApi);
    const servers = new Map<ServerName, ServerContainer>(SERVER_NAMES.map((name) => {
      const container = description.servers[name].container;
      if (container === undefined) throw new LabError('STACK_FILE_INVALID', `the stack file does not name the container of ${name}`, 'write it anew with `npx seckill-lab up --stack containers`');
      const afterStart = name === 'toxiproxy' ? { afterStart: () => toxiproxy.populate(proxies) } : {};
      return [name, serverContainer({ name, docker, id: container.id, network: networkName(id), isReady: readinessOf(name, ports, direct.postgres, toxiproxy), ...afterStart })];
    }));
    const deaths = await hearDeaths(docker, id, servers, options);
    await deaths.begin();
    return assembleContainerStack({ reaper, docker, description, ports, servers, toxiproxy, isOwner: false, stopListening: deaths.stop, onNote: (text) => options.onNote?.(text) });
  } catch (error) {
    reaper.release();
    throw error;
  }
}
