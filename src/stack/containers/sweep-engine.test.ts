// A clean-up says what is still there, against a stub of the engine.
import { expect, it } from 'vitest';

import type { Docker } from './engine.js';
import { STACK_LABEL } from './labels.js';
import { removeStack } from './sweep-engine.js';

interface Thing {
  readonly name: string;
  /** How often the removal is refused, and by what status. */
  readonly refusals: number;
  readonly status: number;
}

/** Containers and volumes that go when their refusals are used up. */
function engineWith(containers: readonly Thing[], volumes: readonly Thing[] = []): Docker {
  const left = new Map([...containers, ...volumes].map((thing) => [thing.name, thing.refusals]));
  const Labels = { [STACK_LABEL]: 'one' };
  const there = (things: readonly Thing[]): Thing[] => things.filter(({ name }) => left.has(name));
  const removal = (name: string) => ({
    remove: async () => {
      const refusals = left.get(name);
      const thing = [...containers, ...volumes].find((each) => each.name === name);
      if (refusals === 0 || refusals === undefined) left.delete(name);
      else {
        left.set(name, refusals - 1);
        throw Object.assign(new Error(`removal of ${name} is already in progress`), { statusCode: thing?.status });
      }
    },
  });
  return {
    listContainers: () => Promise.resolve(there(containers).map(({ name }) => ({ Id: name, Names: [`/${name}`], Labels }))),
    listNetworks: () => Promise.resolve([]),
    listVolumes: () => Promise.resolve({ Volumes: there(volumes).map(({ name }) => ({ Name: name, Labels })) }),
    getContainer: removal,
    getVolume: removal,
  } as unknown as Docker;
}

it.each([404, 409, 500])('names what the engine answers with %i for ever', async (status) => {
  const { removed, problems } = await removeStack(engineWith([{ name: 'kafka', refusals: Infinity, status }, { name: 'redis', refusals: 0, status: 0 }], [{ name: 'data', refusals: Infinity, status }]), 'one', false, 300);
  expect(removed.map(({ name }) => name)).toEqual(['redis']);
  expect(problems).toHaveLength(2);
  expect(problems[0]).toMatch(status === 404 ? /^container kafka is still there after 1 s$/ : /^container kafka is still there after 1 s: removal of kafka is already in progress$/);
});

it('is content with what goes a moment later, whoever removes it', async () => {
  expect(await removeStack(engineWith([{ name: 'kafka', refusals: 2, status: 409 }]), 'one', false, 5_000)).toMatchObject({ problems: [] });
});
