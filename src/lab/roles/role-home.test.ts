// Where roles may live is said before anything starts, against a stub of the engine.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';

import type { Engine } from '../../stack/containers/engine.js';
import * as engines from '../../stack/containers/engine.js';
import { imageAnswer, startStubEngine, type StubEngine } from '../../stack/containers/stub-engine.test-support.js';
import { CODE_LABEL, codeDigest } from '../../stack/images/code-digest.js';
import type { StackSource } from '../bring-up-stack.js';
import { packageRoot } from '../package-root.js';
import { prepareRoleHome, type RoleHosting } from './role-home.js';

const ID = `sha256:${'ab'.repeat(32)}`;
const IN_CONTAINERS: RoleHosting = { home: 'containers', images: {} };
const started = (provider: 'local' | 'containers'): StackSource => ({ kind: 'start', request: { provider, images: {} }, onKept: null });
let engine: StubEngine;
let notes: string[];
const note = (text: string): void => void notes.push(text);

beforeAll(async () => {
  engine = await startStubEngine();
});
beforeEach(() => {
  notes = [];
  engine.answers = [[/^GET \/images\/seckill-lab\/roles:latest\/json/, imageAnswer(ID, { [CODE_LABEL]: codeDigest(packageRoot()) })]];
});
afterAll(() => { engine.close(); });

it('says which image the roles run from, by its content', async () => {
  const { shown } = await prepareRoleHome(IN_CONTAINERS, started('containers'), note);
  expect(shown).toEqual({ home: 'containers', image: 'seckill-lab/roles:latest', imageId: ID, digest: null });
  expect(notes).toEqual(['roles run in containers of seckill-lab/roles:latest']);
});

it('asks no engine for roles that are processes', async () => {
  engine.requests.length = 0;
  expect((await prepareRoleHome(undefined, started('local'), note)).shown).toEqual({ home: 'processes' });
  expect(engine.requests).toEqual([]);
});

it('refuses an image of other code, one of unknown code, and none', async () => {
  engine.answers = [[/^GET \/images\//, imageAnswer(ID, { [CODE_LABEL]: 'another' })]];
  await expect(prepareRoleHome(IN_CONTAINERS, started('containers'), note)).rejects.toMatchObject({ code: 'MISSING_DEPENDENCY', message: expect.stringContaining('other code') as string });
  engine.answers = [[/^GET \/images\//, imageAnswer(ID)]];
  await expect(prepareRoleHome(IN_CONTAINERS, started('containers'), note)).rejects.toMatchObject({ code: 'MISSING_DEPENDENCY', message: expect.stringContaining('unknown code') as string });
  engine.answers = [];
  await expect(prepareRoleHome(IN_CONTAINERS, started('containers'), note)).rejects.toMatchObject({ code: 'MISSING_DEPENDENCY', message: expect.stringContaining('no image seckill-lab/roles:latest') as string });
});

it.each([['a rootless engine', { isRootless: true }], ['an engine of a virtual machine', { isThisMachine: false }]])('refuses %s', async (_, trait) => {
  const there: Engine = { ...(await engines.reachEngine()), ...trait };
  const reach = vi.spyOn(engines, 'reachEngine').mockResolvedValue(there);
  await expect(prepareRoleHome(IN_CONTAINERS, started('containers'), note)).rejects.toMatchObject({ code: 'MISSING_DEPENDENCY', message: expect.stringContaining('roles cannot run in containers here') as string });
  reach.mockRestore();
});

it('refuses a stack that has no engine', async () => {
  await expect(prepareRoleHome(IN_CONTAINERS, started('local'), note)).rejects.toMatchObject({ code: 'USAGE' });
});
