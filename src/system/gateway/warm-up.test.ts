/** The warm-up plays every request through to a win and lets nothing of it out. */
import { expect, it } from 'vitest';

import { namespaceOf } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../domain/role-config.js';
import { DEFAULT_FUNNEL } from '../../domain/funnel.js';
import { systemClock } from '../../domain/clock.js';
import { warmUpSubmit } from './warm-up.js';

const funnelWithMark = { ...DEFAULT_FUNNEL, layers: { ...DEFAULT_FUNNEL.layers, 'sold-out-mark': true } };
const nowhere = { host: '127.0.0.1', port: 1 };
const config: RoleConfig = {
  role: 'gateway',
  instance: 'gateway-1',
  namespace: namespaceOf('warm'),
  addresses: { redis: nowhere, kafka: nowhere, postgres: { ...nowhere, user: 'u', password: 'p' } },
  listen: nowhere,
  activityId: '1',
  skuIds: ['2'],
  strategies: { consumer: 'single', allocator: 'token' },
  tuning: DEFAULT_TUNING,
};

const marked = { ...config, tuning: { ...DEFAULT_TUNING, funnel: funnelWithMark } };

it.each([['wins alone', config], ['wins, and batches that come too late', marked]])('%s: announces no step and writes no log', async (_name, warmed) => {
  const heard: string[] = [];
  await warmUpSubmit(warmed, { clock: systemClock, observer: { reached: (step) => void heard.push(step) }, log: (_level, text) => void heard.push(text) }, 256);
  expect(heard).toEqual([]);
});
