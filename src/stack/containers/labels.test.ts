// Whose a container is, and whether he lives: the rule by which a sweep may take it.
import { expect, it } from 'vitest';

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

it('leaves alone what it cannot read', () => {
  expect(ownerState(undefined)).toBe('elsewhere');
  expect(ownerState('not json')).toBe('elsewhere');
  expect(ownerState('null')).toBe('elsewhere');
  expect(ownerState('7')).toBe('elsewhere');
});
