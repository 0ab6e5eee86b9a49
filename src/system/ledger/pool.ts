/**
 * One bounded pool per role process: the pool is the valve in front of PostgreSQL (paper 001 §10.5), and every wait in it has an end.
 */
import { Pool } from 'pg';

import type { PostgresAddress } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import { measurePool } from './pool-metrics.js';

export interface PoolTarget {
  readonly address: PostgresAddress;
  readonly database: string;
  /** Shown in `pg_stat_activity`: the role instance. */
  readonly applicationName: string;
  readonly max: number;
}

/**
 * A pool with the timeouts of LIBRARIES §3.3. It connects on first use. The order of the bounds matters: a statement ends on the server
 * (1.5 s) before the client stops waiting (2 s), else the client would give up on work that still goes on; a half-open link keeps its row
 * locks until `idle_in_transaction_session_timeout`.
 */
export function createPool(target: PoolTarget, surroundings: Pick<RoleSurroundings, 'log' | 'metrics'>): Pool {
  const pool = new Pool({
    host: target.address.host,
    port: target.address.port,
    user: target.address.user,
    password: target.address.password,
    database: target.database,
    application_name: target.applicationName,
    max: target.max,
    connectionTimeoutMillis: 1_000,
    query_timeout: 2_000,
    statement_timeout: 1_500,
    lock_timeout: 1_000,
    idle_in_transaction_session_timeout: 3_000,
    keepAlive: true,
    idleTimeoutMillis: 0,
    // Start-up options cost no round trip and hold for every session, whatever the server's or the database's defaults are.
    options: '-c TimeZone=UTC -c search_path=public',
  });
  const report = (error: Error): void => {
    surroundings.log('warn', 'PostgreSQL connection lost', { error: error.message });
  };
  // The pool's listener covers idle clients only: a client that is checked out needs its own, or its loss ends the process (LIBRARIES §3.2).
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', report);
  });
  if (surroundings.metrics !== undefined) {
    // `gateway-1-reader` is the pool `reader` of its role; the instance is a label already.
    const name = /-\d+-([a-z-]+)$/.exec(target.applicationName)?.[1] ?? 'main';
    measurePool(pool, name, surroundings.metrics, surroundings.log.bind(surroundings));
  }
  return pool;
}

/** The server answers a trivial query through this pool. Never rejects. */
export async function answers(pool: Pool): Promise<boolean> {
  try {
    await pool.query('SELECT 1');
    return true;
  } catch {
    return false;
  }
}
