/** Shows PostgreSQL's figures in the relay, the role that is at the database anyway: three read-only statements, one after the other. */
import type { RoleConfig } from '../../domain/role-config.js';
import { createPool } from '../ledger/pool.js';
import { loadStatements } from '../ledger/sql-loader.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings } from '../role.js';
import { businessGauges, type BusinessCounts } from './business-figures.js';
import { startSampler, type Sampler } from './sampler.js';
import { serverGauges, tableGauges, WATCHED_TABLES, type ServerFigures, type TableFigures } from './server-figures.js';

/** One connection of its own, so that no sample ever waits for, or holds up, the relay's work. Opened at the first sample. */
export function startDatabaseFigures(config: RoleConfig, metrics: RoleMetrics, surroundings: RoleSurroundings): Sampler {
  const { storeFiguresIntervalMs: intervalMs } = config.tuning;
  if (intervalMs <= 0) return { stop: () => Promise.resolve() };
  const { count_business: business, read_server_figures: server, read_table_figures: tables } = loadStatements();
  const pool = createPool({ address: config.addresses.postgres, database: config.namespace.database, applicationName: `${config.instance}-figures`, max: 1 }, surroundings);
  const showBusiness = businessGauges(metrics, config);
  const showServer = serverGauges(metrics);
  const showTables = tableGauges(metrics);

  async function sample(): Promise<void> {
    const [counts] = (await pool.query<BusinessCounts>({ ...business, values: [config.activityId] })).rows;
    if (counts !== undefined) showBusiness(counts);
    const [figures] = (await pool.query<ServerFigures>(server)).rows;
    if (figures !== undefined) showServer(figures);
    showTables((await pool.query<TableFigures>({ ...tables, values: [WATCHED_TABLES] })).rows);
  }

  const sampler = startSampler({ store: 'PostgreSQL', intervalMs, sample, log: surroundings.log.bind(surroundings) });
  return {
    async stop() {
      await sampler.stop();
      await pool.end();
    },
  };
}
