// No death of a server goes unheard: while it is listened for, before that, and when the engine tells no more.
import { PassThrough } from 'node:stream';

import { beforeEach, expect, it, vi } from 'vitest';

import type { ServerName } from '../../facts/stack-description.js';
import type { Docker } from './engine.js';
import { hearDeaths } from './hear-deaths.js';
import type { ServerContainer } from './server-container.js';

let events: PassThrough;
let told: string[];
let isRunning: boolean;

const docker = { getEvents: () => Promise.resolve(events) } as unknown as Docker;
const options = {
  onServerDeath: (server: string, words: readonly string[]) => void told.push(`${server}: ${words.join()}`),
  onDeathsUnheard: () => void told.push('unheard'),
};

function servers(): ReadonlyMap<ServerName, ServerContainer> {
  const redis = { name: 'redis-replica', hasDied: (id: string) => id === 'replica', isRunning: () => Promise.resolve(isRunning), lastWords: () => Promise.resolve(['bye']) };
  return new Map([['redis-replica', redis as unknown as ServerContainer]]);
}

/** What has been written is read, and what that sets off is done: nothing of it waits for anything but the turns of the event loop. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** As the engine tells it: nanoseconds, which a number holds to a few hundred. */
async function dies(id: string, atMs = Date.now()): Promise<void> {
  events.write(`${JSON.stringify({ Action: 'die', Actor: { ID: id }, timeNano: atMs * 1e6 })}\n`);
  await turns();
}

beforeEach(() => {
  events = new PassThrough();
  told = [];
  isRunning = true;
});

it('tells of a server that dies, and of nobody else’s container', async () => {
  const watch = await hearDeaths(docker, 'one', servers(), options);
  await watch.begin();
  await dies('a-role');
  await dies('replica');
  expect(told).toEqual(['redis-replica: bye']);
});

it('tells at the beginning of one that has died before, once; and again when it dies again', async () => {
  const watch = await hearDeaths(docker, 'one', servers(), options);
  const lookedMs = 1_796_000_000_000;
  const clock = vi.spyOn(Date, 'now').mockReturnValue(lookedMs);
  isRunning = false;
  await watch.begin();
  clock.mockRestore();
  expect(told).toEqual(['redis-replica: bye']);
  await dies('replica', lookedMs - 5);
  // Within the look's own millisecond, which its clock cannot tell from the look.
  await dies('replica', lookedMs + 0.4);
  expect(told).toHaveLength(1);
  await dies('replica', lookedMs + 2);
  expect(told).toHaveLength(2);
});

it.each(['before it is listened for', 'later'])('says that deaths are heard no more when the engine breaks off %s', async (when) => {
  const watch = await hearDeaths(docker, 'one', servers(), options);
  if (when === 'later') await watch.begin();
  events.end();
  await turns();
  if (when !== 'later') await watch.begin();
  expect(told).toEqual(['unheard']);
});

it('an end that was asked for is no news', async () => {
  const watch = await hearDeaths(docker, 'one', servers(), options);
  await watch.begin();
  watch.stop();
  await turns();
  expect(told).toEqual([]);
});

it('whoever ends a stack is not told that its servers have ended', async () => {
  isRunning = false;
  const notes: string[] = [];
  const watch = await hearDeaths(docker, 'one', servers(), { onNote: (text) => void notes.push(text) });
  await watch.begin();
  expect(notes).toEqual([]);
});
