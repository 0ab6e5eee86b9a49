/** One server of a stack as a container in the hands of the lab: frozen, thawed, killed, started again, cut off from its network. */
import { setTimeout as delay } from 'node:timers/promises';

import { LabError } from '../../facts/lab-error.js';
import type { ServerName } from '../../facts/stack-description.js';
import type { ServerTarget } from '../../facts/targets.js';
import { lastLines } from '../workshop.js';
import type { ContainerReadiness } from './container-readiness.js';
import type { Docker } from './engine.js';

export type Container = ReturnType<Docker['getContainer']>;

export interface ServerContainer extends ServerTarget {
  /** Tells what the engine says has ended; true when nobody here had asked for it. */
  hasDied(containerId: string): boolean;
  /** Resolves when it does what it is for. LabError STACK_START_FAILED with its last words when it does not. */
  untilReady(): Promise<void>;
  lastWords(): Promise<readonly string[]>;
}

export interface ContainerSurroundings {
  readonly name: ServerName;
  readonly docker: Docker;
  readonly id: string;
  /** Name of the stack's network. */
  readonly network: string;
  readonly isReady: ContainerReadiness;
  /** Runs when it answers again, before `start` resolves. */
  readonly afterStart?: () => Promise<void>;
}

const STATE_LIMIT_MS = 5_000;
const START_LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 20;
const LAST_LINES = 15;

export function serverContainer({ name, docker, id, network, isReady, afterStart }: ContainerSurroundings): ServerContainer {
  const container = docker.getContainer(id);
  let deathsExpected = 0;

  const state = async (): Promise<{ Running: boolean; Paused: boolean; StartedAt: string }> => (await container.inspect()).State;
  const untilState = async (what: string, isTrue: (now: { Running: boolean; Paused: boolean }) => boolean): Promise<void> => {
    const limit = Date.now() + STATE_LIMIT_MS;
    while (!isTrue(await state())) {
      if (Date.now() > limit) throw new LabError('STACK_GONE', `waited ${String(STATE_LIMIT_MS / 1_000)} s in vain for the container of ${name} to ${what}`, 'look at it with `docker ps -a`');
      await delay(LOOK_EVERY_MS);
    }
  };
  const isUnplugged = async (): Promise<boolean> => {
    const { Networks } = (await container.inspect()).NetworkSettings;
    return !Object.hasOwn(Networks, network);
  };
  const logSinceStart = async (): Promise<string> => {
    const { StartedAt } = await state();
    const since = Date.parse(StartedAt) / 1_000;
    return plainText(await container.logs({ stdout: true, stderr: true, since, timestamps: false }));
  };

  async function untilReady(): Promise<void> {
    const limit = Date.now() + START_LIMIT_MS;
    while (!(await isReady(logSinceStart))) {
      const { Running } = await state();
      const what = Running ? `was not ready after ${String(START_LIMIT_MS / 1_000)} s` : 'ended while it was starting';
      if (!Running || Date.now() > limit) throw new LabError('STACK_START_FAILED', `${name} ${what}`, 'read its last words below', { details: await lastWords() });
      await delay(LOOK_EVERY_MS);
    }
  }

  async function lastWords(): Promise<readonly string[]> {
    const log = await container.logs({ stdout: true, stderr: true, tail: LAST_LINES }).catch(() => Buffer.from(''));
    return lastLines(plainText(log), LAST_LINES);
  }

  return {
    name,
    async freeze() {
      if (!(await state()).Running) throw new LabError('SERVER_DIED', `${name} is not running`, 'start it before it is faulted');
      await container.pause();
      await untilState('stop', ({ Paused }) => Paused);
    },
    async thaw() {
      if ((await state()).Paused) await container.unpause();
      await untilState('go on', ({ Paused }) => !Paused);
    },
    async isFrozen() {
      return (await state()).Paused;
    },
    async kill() {
      if (!(await state()).Running) return;
      deathsExpected += 1;
      await container.kill({ signal: 'SIGKILL' });
      // An engine keeps the signal of a paused container back until it goes on.
      if ((await state()).Paused) await container.unpause().catch(() => undefined);
      await untilState('be gone', ({ Running }) => !Running);
    },
    async start() {
      if ((await state()).Running) throw new Error(`${name} is running already`);
      await container.start();
      await untilReady();
      await afterStart?.();
    },
    async isRunning() {
      return (await state()).Running;
    },
    async unplug() {
      await docker.getNetwork(network).disconnect({ Container: id });
    },
    async plugIn() {
      // Its address on the network is the lowest one that is free, so it gets the old one again, and what was open goes on.
      if (await isUnplugged()) await docker.getNetwork(network).connect({ Container: id, EndpointConfig: { Aliases: [name] } });
    },
    isUnplugged,
    expectEnd() {
      deathsExpected += 1;
      return Promise.resolve();
    },
    hasDied(containerId) {
      if (containerId !== id) return false;
      if (deathsExpected === 0) return true;
      deathsExpected -= 1;
      return false;
    },
    untilReady,
    lastWords,
  };
}

/** The engine sends stdout and stderr in frames: one byte of stream, three of nothing, four of length, then the text. */
export function plainText(frames: Buffer | NodeJS.ReadableStream): string {
  if (!Buffer.isBuffer(frames)) throw new Error('a log that is followed has no end');
  const texts: string[] = [];
  for (let at = 0; at + 8 <= frames.length; ) {
    const length = frames.readUInt32BE(at + 4);
    texts.push(frames.toString('utf8', at + 8, at + 8 + length));
    at += 8 + length;
  }
  return texts.join('');
}
