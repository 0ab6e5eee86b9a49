// The draws of waiting rooms out of real log lines: whole ones come back, one that was never sealed was no draw, one that lacks somebody is missing evidence.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { namespaceOf } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../domain/role-config.js';
import { createJsonLog } from '../../system/compose/json-log.js';
import { createWaitingRoom } from '../../system/gateway/funnel/waiting-room.js';
import { harvestLottery } from './lottery.js';

const NOWHERE = { host: '127.0.0.1', port: 0 };
const CONFIG: RoleConfig = {
  role: 'gateway', instance: 'gateway-1', namespace: namespaceOf('lottery'), activityId: '7', skuIds: ['70'], listen: NOWHERE, strategies: { consumer: 'single', allocator: 'token' },
  tuning: DEFAULT_TUNING, addresses: { redis: NOWHERE, kafka: NOWHERE, postgres: { ...NOWHERE, user: 'u', password: 'p' } },
};

let logs: string;

beforeEach(() => {
  logs = mkdtempSync(join(tmpdir(), 'lottery-'));
});
afterEach(() => {
  rmSync(logs, { recursive: true });
});

/** One round of the real waiting room, logged by the real log. Returns who passed. */
async function round(file: string, requestIds: readonly string[], places: number): Promise<string[]> {
  let close: () => void = () => undefined;
  const log = createJsonLog('gateway-1', CONFIG, { write: (line) => { appendFileSync(join(logs, file), line); } });
  const room = createWaitingRoom({ tuning: { windowMs: 1, seed: 7, places, participantsMax: 10_000 }, log, instance: 'gateway-1', startedAtMs: 42, after: (_delayMs, then) => (close = then) });
  const answers = requestIds.map((requestId) => room.pass({ sku: { activityId: '7', skuId: '70' }, requestId, userId: requestId.slice(1), payloadHash: 'a', permit: null, deviceId: null }));
  close();
  const verdicts = await Promise.all(answers.map(async (answer) => answer));
  return requestIds.filter((_id, index) => verdicts[index] === null);
}

const ids = (count: number): string[] => Array.from({ length: count }, (_value, index) => `r${String(index + 1)}`);
const linesOf = (file: string, edit: (lines: string[]) => string[], text: string): void => { writeFileSync(join(logs, file), `${edit(text.trimEnd().split('\n')).join('\n')}\n`); };

test('what a waiting room has logged comes back as it was', async () => {
  const passed = await round('gateway-1.log', ids(450), 120);
  writeFileSync(join(logs, 'consumer-1.log'), 'no JSON\n');
  const [draw, ...others] = await harvestLottery(logs);
  expect(others).toEqual([]);
  expect(draw).toMatchObject({ gateway: 'gateway-1', round: 'gateway-1/42/1', skuId: '70', seed: 7, places: 120 });
  expect([...(draw?.entered ?? [])].sort()).toEqual(ids(450).sort());
  expect([...(draw?.drawn ?? [])].sort()).toEqual(passed.sort());
  expect(Math.abs((draw?.drawnAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
});

test('a round whose gateway died before the seal was no draw, and the next one is read after its torn line', async () => {
  await round('gateway-1.log', ids(450), 120);
  const whole = readFileSync(join(logs, 'gateway-1.log'), 'utf8');
  writeFileSync(join(logs, 'gateway-1.log'), `${whole.split('\n').slice(0, 2).join('\n')}\n${whole.slice(0, 300)}\n${whole.replaceAll('/42/', '/43/')}`);
  expect((await harvestLottery(logs)).map((draw) => draw.round)).toEqual(['gateway-1/43/1']);
});

test('a sealed draw that lacks a page is missing evidence', async () => {
  await round('gateway-1.log', ids(450), 120);
  linesOf('gateway-1.log', (lines) => lines.slice(1), readFileSync(join(logs, 'gateway-1.log'), 'utf8'));
  await expect(harvestLottery(logs)).rejects.toThrow(/450 participants/);
});
