// The lines of a role: names of the paper, hashed users, and nothing lost when the process is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, test } from 'vitest';

import { namespaceOf } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../domain/role-config.js';
import { createJsonLog, hashUserId } from './json-log.js';

const address = { host: '127.0.0.1', port: 1 };
const config: RoleConfig = {
  role: 'consumer', instance: 'consumer-1', namespace: namespaceOf('logs'), activityId: '7', skuIds: ['70'], listen: address, strategies: { consumer: 'single', allocator: 'row' },
  tuning: DEFAULT_TUNING, addresses: { redis: address, kafka: address, postgres: { ...address, user: 'u', password: 'p' } },
};

function linesOf(use: (log: ReturnType<typeof createJsonLog>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  use(createJsonLog('consumer-1', config, { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a line', () => {
  test('carries the ids under the names of the paper, and what the role always knows', () => {
    const [line] = linesOf((log) => {
      log('warn', 'message refused', { requestId: 'r-1', reservationId: 'v', messageId: 'm', orderId: '9', inventoryTokenId: '4', inventoryBucket: 5, retryCount: 2, resultCode: 'X', errorClass: 'Y', partition: 3 });
    });
    expect(line).toMatchObject({
      level: 'warn', text: 'message refused', instance: 'consumer-1', role: 'consumer', availability_zone: 'local', activity_id: '7', sku_id: '70', consumer_group: 'logs.order-create',
      request_id: 'r-1', reservation_id: 'v', message_id: 'm', order_id: '9', inventory_token_id: '4', inventory_bucket: 5, retry_count: 2, result_code: 'X', error_class: 'Y', partition: 3,
    });
    expect(new Date(line?.['time'] as string).getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  test.each(['userId', 'user_id', 'user'])('never shows a user id given as %s', (field) => {
    const [line] = linesOf((log) => {
      log('info', 'x', { [field]: '990000000001' });
    });
    expect(JSON.stringify(line)).not.toContain('990000000001');
    expect(line?.['user_id_hash']).toBe(hashUserId('990000000001', 'seckill logs'));
  });

  test('below the level asked for is not written', () => {
    expect(linesOf((log) => {
      log('debug', 'x');
    })).toEqual([]);
  });
});

test('the hash depends on the key and is short', () => {
  expect(hashUserId('1', 'a')).not.toBe(hashUserId('1', 'b'));
  expect(hashUserId('1', 'a')).toMatch(/^[0-9a-f]{16}$/);
});

test('a process that is killed right after a line has not lost it', async () => {
  const script = `import { destination, pino } from 'pino';
    const logger = pino({}, destination({ fd: 2, sync: true, minLength: 0 }));
    for (let line = 1; line <= 2000; line += 1) logger.info({ line }, 'x');
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  expect(signal).toBe('SIGKILL');
  expect(text.trimEnd().split('\n').map((line) => (JSON.parse(line) as { line: number }).line)).toEqual(Array.from({ length: 2000 }, (_, place) => place + 1));
});
