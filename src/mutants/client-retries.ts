/**
 * client-retries: the Redis client keeps its defaults, which send a command again whose answer was lost, and the script does not recognise it (paper `000`
 * §10.2; decision 0002). A request takes two units, and nobody knows of the second.
 */
import { Redis } from 'ioredis';

import type { RoleOverrides } from '../system/compose.js';
import type { Mutant } from './mutant.js';
import { reserveAnswerLost } from './plans/cuts.js';
import { wrongScript } from './wrong-source.js';

/** Host, port and a name; all else as the library has it. */
const withDefaults: NonNullable<RoleOverrides['openRedis']> = ({ host, port }, { name, onError }) => {
  const redis = new Redis({ host, port, connectionName: name });
  redis.on('error', (error: Error) => onError?.(error));
  return redis;
};

export const clientRetries: Mutant = {
  name: 'client-retries',
  description: 'The Redis client sends commands again by itself, and the reserve script is not idempotent.',
  warnedBy: '000 §10.2 and §15.10',
  caughtBy: 'redis-conservation',
  showsUnder: reserveAnswerLost,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { openRedis: withDefaults, scripts: { reserve_batch: wrongScript('reserve_blindly') } } : {}),
};
