/** All connections of a PostgreSQL server in the hands of the lab, so that nobody else gets one (paper `001` §13.4). */
import pg from 'pg';

import type { PostgresAddress } from '../domain/role-config.js';
import type { HeldConnections } from '../facts/database-target.js';

/** "Too many connections": also what superusers hear when the reserved ones are gone. */
const TOO_MANY = '53300';
/** The lab's own sessions name themselves `lab…`. */
export const SESSIONS_OF_ROLES = "datname = current_database() AND backend_type = 'client backend' AND application_name NOT LIKE 'lab%'";
const AT_ONCE = 16;
/** A server that gives more than this has another bound than we think. */
const MOST = 2_000;
const ROLES_GONE_ROUNDS = 50;
/** Rounds in a row that find no session of a role and no free place: one that is just being opened has its place already and is not shown yet. */
const QUIET_ROUNDS = 3;

async function connected(address: PostgresAddress, database: string): Promise<pg.Client | 'refused'> {
  const { host, port, user, password } = address;
  const client = new pg.Client({ host, port, user, password, database, application_name: 'lab-taken', connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (cause) {
    void client.end().catch(() => undefined);
    if ((cause as { code?: unknown }).code === TOO_MANY) return 'refused';
    throw cause;
  }
}

/** Takes what there is, ends the sessions of the roles through the last one taken, and takes their places too, until none of them has one. */
export async function takeAllConnections(address: PostgresAddress, database: string): Promise<HeldConnections> {
  const taken: pg.Client[] = [];
  const release = async (): Promise<void> => {
    await Promise.all(taken.splice(0).map((client) => client.end().catch(() => undefined)));
  };
  const takeTheRest = async (): Promise<void> => {
    for (let full = false; !full && taken.length < MOST; ) {
      const answers = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => connected(address, database)));
      for (const answer of answers) {
        if (answer.status === 'fulfilled' && answer.value !== 'refused') taken.push(answer.value);
        if (answer.status === 'fulfilled' && answer.value === 'refused') full = true;
      }
      const failed = answers.find((answer) => answer.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
  };
  try {
    await takeTheRest();
    for (let round = 0, quiet = 0; round < ROLES_GONE_ROUNDS && quiet < QUIET_ROUNDS; round += 1) {
      const before = taken.length;
      const ended = await taken[0]?.query(`SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE ${SESSIONS_OF_ROLES}`);
      await takeTheRest();
      quiet = (ended?.rowCount ?? 0) === 0 && taken.length === before ? quiet + 1 : 0;
    }
    const roleSessions = async (): Promise<number> => Number((await taken[0]?.query<{ sessions: string }>(`SELECT count(*) AS sessions FROM pg_stat_activity WHERE ${SESSIONS_OF_ROLES}`))?.rows[0]?.sessions ?? 0);
    return { count: taken.length, roleSessions, release };
  } catch (cause) {
    await release();
    throw cause;
  }
}

/** A new session is refused because there are too many already. */
export async function refusesForWantOfConnections(address: PostgresAddress): Promise<boolean> {
  const client = await connected(address, 'postgres');
  if (client === 'refused') return true;
  await client.end().catch(() => undefined);
  return false;
}
