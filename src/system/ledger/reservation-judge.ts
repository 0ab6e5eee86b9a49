/** What the scanner decides by, and how it ends a reservation that never became an order. */
import { OrderResult } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import { HANDED_OVER, closeReservation, handOverReservation } from './end-reservation.js';
import type { ClosedReservation, ReservationJudge } from './ledger-port.js';
import { answers, createPool } from './pool.js';
import { describeFailure, failureKind } from './postgres-failure.js';
import { loadStatements } from './sql-loader.js';
import type { TransactionFields } from './pool-metrics.js';
import { inTransaction, type Transaction } from './transaction.js';

interface StateRow {
  readonly reservation_id: string;
  readonly status: number;
  readonly order_id: string | null;
  readonly version: string;
  readonly returns_unit: boolean;
  readonly clears_user_mark: boolean;
}

/** For the log. */
function idsOf({ sku, reservationId, requestId, messageId, userId }: ClosedReservation): TransactionFields {
  return { activityId: sku.activityId, skuId: sku.skuId, reservationId, requestId, messageId, userId };
}

async function noted<Outcome extends string>(transaction: Transaction, work: Promise<Outcome>): Promise<Outcome> {
  const outcome = await work;
  transaction.note({ resultCode: outcome });
  return outcome;
}

export function createReservationJudge(config: RoleConfig, surroundings: RoleSurroundings): ReservationJudge {
  const statements = loadStatements();
  const pool = createPool({
    address: config.addresses.postgres,
    database: config.namespace.database,
    applicationName: config.instance,
    max: Math.min(config.tuning.postgresPoolSize, 4),
  }, surroundings);
  /** Unknown is unavailable too: the next look at the durable state tells what happened. */
  const failed = (text: string, reservationId: string, error: unknown): 'refused' | 'unavailable' => {
    const refused = failureKind(error) === 'definite';
    surroundings.log(refused ? 'error' : 'warn', text, { reservationId, error: describeFailure(error) });
    return refused ? 'refused' : 'unavailable';
  };
  return {
    async durableStates(reservationIds) {
      if (reservationIds.length === 0) return new Map();
      try {
        const { rows } = await pool.query<StateRow>({ ...statements.find_reservation_states, values: [[...reservationIds]] });
        return new Map(rows.map((row) => [row.reservation_id, {
          status: row.status, orderId: row.order_id, version: Number(row.version), returnsUnit: row.returns_unit, clearsUserMark: row.clears_user_mark,
        }]));
      } catch (error) {
        surroundings.log('warn', 'reservation states not read', { error: describeFailure(error) });
        return null;
      }
    },
    async closeWithoutOrder(reservation) {
      const end = await inTransaction(pool, statements, (transaction) =>
        noted(transaction, closeReservation(transaction, config.namespace.eventsTopic, reservation, OrderResult.REJECTED_EXPIRED)), idsOf(reservation));
      return end.end === 'committed' ? end.value : failed('reservation not closed', reservation.reservationId, end.error);
    },
    async handOver(reservation) {
      const end = await inTransaction(pool, statements, (transaction) =>
        noted(transaction, handOverReservation(transaction, reservation, HANDED_OVER.RECOVERY_DEADLINE)), idsOf(reservation));
      return end.end === 'committed' ? end.value : failed('reservation not handed over', reservation.reservationId, end.error);
    },
    async manual() {
      try {
        const { rows } = await pool.query<{ waiting: number; oldest_seconds: number }>(statements.count_manual_reservations);
        return { waiting: rows[0]?.waiting ?? 0, oldestSeconds: rows[0]?.oldest_seconds ?? 0 };
      } catch {
        return null;
      }
    },
    ready: () => answers(pool),
    close: () => pool.end(),
  };
}
