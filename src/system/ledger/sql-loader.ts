/**
 * SQL lives in `sql/`: numbered migrations, one statement per file in `sql/commands`, read-only harvest queries in `sql/facts`.
 *
 * The folder is found from this file's own place, which is equally deep in `src/`, in `dist/` and in an installed package.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const COMMAND_NAMES = [
  'load_sku_terms', 'insert_inbox', 'load_inbox_results', 'update_inbox_results',
  'insert_reservations', 'lock_reservations', 'find_request_owners', 'mark_reservations_ordered', 'mark_reservations_rejected',
  'insert_orders', 'find_conflicting_orders', 'delete_unallocated_orders', 'insert_order_items', 'insert_ledger_allocations',
  'allocate_row_stock', 'lock_row_stock', 'claim_tokens', 'any_free_token', 'lock_sku_queue', 'set_order_tokens',
  'insert_outbox', 'insert_order_events', 'insert_closed_reservation', 'find_request_state', 'units_may_return', 'find_reservation_states',
  'recover_outbox_leases', 'claim_outbox', 'mark_outbox_sent', 'mark_outbox_failed', 'count_outbox',
  'hand_over_reservation', 'end_manual_reservation', 'count_manual_reservations', 'list_manual_reservations',
  'insert_dead_letter', 'resolve_dead_letter', 'lock_open_dead_letter', 'list_dead_letters', 'count_dead_letters',
  'delete_old_inbox', 'archive_outbox', 'archive_callbacks',
  'load_order', 'lock_reservations_of_orders', 'find_expired_orders', 'expire_orders', 'cancel_order', 'start_paying_order', 'pay_order',
  'request_order_refund', 'close_refunded_order', 'advance_reservation', 'hold_reservation_for_refund', 'release_reservations',
  'sell_tokens', 'restock_tokens', 'withdraw_tokens', 'release_row_stock', 'insert_ledger_releases', 'insert_ledger_sale',
  'insert_payment', 'find_payment_by_trade', 'find_payments_of_order', 'load_payment', 'settle_payment', 'turn_payment_back', 'fail_payment',
  'mark_payment_unknown', 'request_payment_refund', 'refund_payment', 'claim_payment_queries', 'end_payment_queries',
  'insert_payment_callback', 'find_payment_callback', 'find_contradicting_callback', 'set_payment_callback_result', 'insert_unmatched_payment',
  'insert_compensation', 'claim_compensations', 'recover_compensation_leases', 'finish_compensations', 'retry_compensations', 'count_compensations',
  'count_business', 'read_server_figures', 'read_table_figures',
  'seed_activity', 'seed_sku', 'seed_inventory', 'seed_tokens',
  'acquire_reconciler_lease', 'free_reconciler_lease', 'find_redis_mirror', 'save_redis_mirror', 'reconcile_reservations', 'reconcile_sku',
  'find_inboxed_messages', 'plan_adjustments', 'find_open_adjustments', 'settle_adjustment',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** A statement with the name under which the server keeps it prepared. */
export interface SqlStatement {
  readonly name: string;
  readonly text: string;
}

export type Statements = Readonly<Record<CommandName, SqlStatement>>;

const SQL_ROOT = new URL('../../../sql/', import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, SQL_ROOT), 'utf8');
}

/**
 * All statements, read once at the start of a role so that a missing file is noticed at once. `overrides` puts other texts in their place
 * (a deliberately wrong design does that); throws when a file cannot be read.
 */
export function loadStatements(overrides: Partial<Readonly<Record<CommandName, string>>> = {}): Statements {
  const entries = COMMAND_NAMES.map((name) => [name, { name, text: overrides[name] ?? read(`commands/${name}.sql`) }] as const);
  return Object.fromEntries(entries) as Record<CommandName, SqlStatement>;
}

export interface Migration {
  /** Number in front of the file name. */
  readonly version: number;
  /** File name without its ending. */
  readonly name: string;
  readonly text: string;
}

/** Migrations in order. Throws when a file name has no number or two have the same. */
export function loadMigrations(): readonly Migration[] {
  const migrations = readdirSync(fileURLToPath(new URL('migrations/', SQL_ROOT)))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => {
      const name = file.slice(0, -'.sql'.length);
      const version = Number(/^(\d{4})_/.exec(name)?.[1]);
      if (!Number.isInteger(version)) throw new Error(`a migration is named 0001_what.sql, not ${file}`);
      return { version, name, text: read(`migrations/${file}`) };
    })
    .sort((one, other) => one.version - other.version);
  migrations.forEach((migration, place) => {
    if (migration.version !== place + 1) throw new Error(`migrations are numbered without gaps: ${migration.name} is number ${String(place + 1)}`);
  });
  return migrations;
}
