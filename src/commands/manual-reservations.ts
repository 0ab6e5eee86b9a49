/** The reservations of a running system that wait for a human, for every command that shows them. */
import type pg from 'pg';

import { loadStatements } from '../system/ledger/sql-loader.js';

export interface ManualReservation {
  readonly reservationId: string;
  readonly requestId: string;
  readonly userId: string;
  readonly skuId: string;
  /** `HANDED_OVER`: by whom it was handed over. */
  readonly why: string | null;
  /** ISO. */
  readonly since: string;
}

interface Row {
  readonly reservation_id: string;
  readonly request_id: string;
  readonly user_id: string;
  readonly sku_id: string;
  readonly failure_code: string | null;
  readonly updated_at: Date;
}

/** More are no list any more. */
export const MANUAL_LIST_MAX = 1_000;

/** Longest waiting first. Rejects with the driver's error when PostgreSQL does not answer. */
export async function manualReservations(client: pg.Client): Promise<readonly ManualReservation[]> {
  const { rows } = await client.query<Row>({ ...loadStatements().list_manual_reservations, values: [MANUAL_LIST_MAX] });
  return rows.map((row) => ({
    reservationId: row.reservation_id, requestId: row.request_id, userId: row.user_id, skuId: row.sku_id, why: row.failure_code, since: row.updated_at.toISOString(),
  }));
}
