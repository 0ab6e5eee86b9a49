// Whose a container is, and whether he lives: the rule by which a sweep may take it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, it } from 'vitest';

import { readProcess } from '../local/process-table.js';
import { ownerMark, ownerState } from './labels.js';

const mark = ownerMark(process.pid);
const place = { host: mark.host, boot: mark.boot, pidSpace: mark.pidSpace };
const ticks = (): string => mark.startTicks;

it('is alive while that very process is', () => {
  expect(ownerState(JSON.stringify(mark))).toBe('alive');
});

it.each([
  ['ended', mark, () => null, 'dead'],
  ['another process with the same number', mark, () => '1', 'dead'],
  ['an earlier boot of this machine', { ...mark, boot: 'before' }, ticks, 'dead'],
  ['another machine', { ...mark, host: 'far-away' }, ticks, 'elsewhere'],
  ['another machine, with another boot', { ...mark, host: 'far-away', boot: 'other' }, ticks, 'elsewhere'],
  ['another container of this machine', { ...mark, pidSpace: 'pid:[1]' }, () => null, 'elsewhere'],
])('%s', (_, label, startTicksOf, wanted) => {
  expect(ownerState(JSON.stringify(label), place, startTicksOf)).toBe(wanted);
});

it('is dead when it was killed, also before anybody has waited for it', async () => {
  // A shell that becomes another program does not wait for what it has started.
  const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const pid = Number(String((await once(parent.stdout, 'data'))[0]));
  const label = JSON.stringify(ownerMark(pid));
  expect(ownerState(label)).toBe('alive');
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => readProcess(pid)?.state).toBe('Z');
  expect(ownerState(label)).toBe('dead');
  parent.kill('SIGKILL');
});

it('leaves alone what it cannot read', () => {
  expect(ownerState(undefined)).toBe('elsewhere');
  expect(ownerState('not json')).toBe('elsewhere');
  expect(ownerState('null')).toBe('elsewhere');
  expect(ownerState('7')).toBe('elsewhere');
});
