/** The durable state of one request, for the gateway's query endpoint. */
import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import type { DurableRequestState, RequestReader } from './ledger-port.js';
import { answers, createPool } from './pool.js';
import { describeFailure } from './postgres-failure.js';
import { loadStatements } from './sql-loader.js';

interface Row {
  readonly request_id: string;
  readonly user_id: string;
  readonly reservation_id: string;
  readonly reservation_status: number;
  readonly failure_code: string | null;
  readonly order_id: string | null;
  readonly order_status: number | null;
}

function stateOf(row: Row): DurableRequestState {
  return {
    requestId: row.request_id,
    userId: row.user_id,
    reservationId: row.reservation_id,
    reservationStatus: row.reservation_status,
    failureCode: row.failure_code,
    orderId: row.order_id,
    orderStatus: row.order_status,
  };
}

/** A reader with a small pool of its own, so that queries never take connections from writers (paper 001 §10.5). */
export function createRequestReader(config: RoleConfig, surroundings: RoleSurroundings): RequestReader {
  const { find_request_state: statement, units_may_return: returns } = loadStatements();
  const pool = createPool({
    address: config.addresses.postgres,
    database: config.namespace.database,
    applicationName: `${config.instance}-reader`,
    max: Math.min(config.tuning.postgresPoolSize, 4),
  }, surroundings);
  return {
    async lookup(sku, requestId) {
      try {
        const { rows } = await pool.query<Row>({ ...statement, values: [sku.activityId, sku.skuId, requestId] });
        return { outcome: 'done', state: rows[0] === undefined ? null : stateOf(rows[0]) };
      } catch (error) {
        return { outcome: 'unavailable', reason: describeFailure(error) };
      }
    },
    async unitsMayReturn(sku) {
      try {
        const { rows } = await pool.query<{ may_return: boolean }>({ ...returns, values: [sku.activityId, sku.skuId, config.strategies.allocator] });
        return rows[0]?.may_return ?? null;
      } catch {
        return null;
      }
    },
    ready: () => answers(pool),
    close: () => pool.end(),
  };
}
