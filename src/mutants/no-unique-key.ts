/**
 * no-unique-key: the orders table lets a user have several, since "Redis sees to it already"; and then Redis forgets the user (an eviction, a
 * failover, a hand at a console: here the mark is deleted in the very call that set it). Paper `001` §16, error 1; CASES C9.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { LUA_DIRECTORY, parseScriptFileName } from '../system/stock/script-loader.js';
import type { Mutant } from './mutant.js';
import { oneUserBurst } from './plans/sale.js';

const LAST_LINE = 'return reply';

/** The real script, with the marks of the batch deleted before it answers. Throws when the script no longer ends as it did. */
export function forgetfulReserveScript(): string {
  const file = readdirSync(LUA_DIRECTORY).find((name) => parseScriptFileName(name)?.name === 'reserve_batch');
  if (file === undefined) throw new Error(`no script reserve_batch in ${LUA_DIRECTORY}`);
  const source = readFileSync(join(LUA_DIRECTORY, file), 'utf8').trimEnd();
  if (!source.endsWith(`\n${LAST_LINE}`)) throw new Error(`${file} no longer ends with "${LAST_LINE}": write this mutant anew`);
  return `${source.slice(0, -LAST_LINE.length)}if taken > 0 then redis.call('HDEL', KEYS[4], unpack(users)) end\n${LAST_LINE}\n`;
}

export const noUniqueKey: Mutant = {
  name: 'no-unique-key',
  description: "The unique key on a user's orders is dropped, and Redis forgets the user's mark in mid-run.",
  warnedBy: '000 §15.4 and 001 §16 error 1',
  caughtBy: 'one-order-per-user',
  showsUnder: oneUserBurst,
  sql: ['ALTER TABLE orders DROP CONSTRAINT uq_orders_user_sku'],
  overrides: (config) => (config.role === 'gateway' ? { scripts: { reserve_batch: forgetfulReserveScript() } } : {}),
};
