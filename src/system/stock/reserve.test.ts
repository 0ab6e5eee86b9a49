/** A reserve call counts the purchases that it asks Redis about, and none that it answers by itself. */
import { expect, it } from 'vitest';

import { createRoleMetrics } from '../role-metrics.js';
import { bindStock } from './stock-connection.js';
import { reserve } from './reserve.js';
import { loadScripts } from './script-loader.js';
import type { EpochGuard } from './epoch-guard.js';
import type { ReserveRequest } from './stock-port.js';
import type { Redis } from 'ioredis';

const SKU = { activityId: '1', skuId: '2' };
const TIMES = { dueInMs: 1, soldOutMarkMs: 0 };
const requests = Array.from({ length: 3 }, (_, index): ReserveRequest => ({
  requestId: `r${String(index)}`, userId: String(index + 1), payloadHash: 'ab'.repeat(32), reservationId: '01900000-0000-7000-8000-000000000001', messageId: '01900000-0000-7000-8000-000000000002', reservedAtMs: 1, expiresAtMs: 2,
}));

/** A Redis on which every script answers `reply`. */
function redisThatSays(reply: readonly string[]): Redis {
  const fake: Record<string, unknown> = { status: 'ready', defineCommand: (name: string) => { fake[name] = () => Promise.resolve(reply); } };
  return fake as unknown as Redis;
}
const guardThat = (known: boolean): EpochGuard => ({
  known: () => (known ? { epoch: '1', activityVersion: '1' } : null), learn: () => Promise.resolve({ outcome: 'paused' }), forget: () => undefined,
}) as unknown as EpochGuard;

const ASKED_ABOUT = /^reservation_lua_requests_total\{.*\} (\d+)$/m;

it.each([[true, 3], [false, 0]])('Redis is asked: %s', async (isAsked, count) => {
  const metrics = createRoleMetrics('gateway', 'gateway-1');
  const connection = bindStock(redisThatSays(['OK', 'SOLD_OUT 0', 'SOLD_OUT 0', 'SOLD_OUT 0']), 'p', loadScripts(), metrics);
  expect(await reserve(connection, guardThat(isAsked), SKU, requests, TIMES)).toMatchObject({ outcome: 'done' });
  expect(Number(ASKED_ABOUT.exec(await metrics.text())?.[1] ?? 0)).toBe(count);
});
