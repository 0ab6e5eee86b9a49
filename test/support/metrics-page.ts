/** `docs/metrics.md`, written from the sources: what the papers ask for, and everything else that a role shows. */
import type { MetricSource, MetricType } from './metric-sources.js';

/** Paper `000` §12.1–12.5, name by name. A test looks for each in the sources. */
export const PAPER_NAMES: Readonly<Record<string, readonly string[]>> = {
  '§12.1 Admission': [
    'seckill_requests_total', 'seckill_requests_accepted_total', 'seckill_requests_rejected_total', 'seckill_rate_limited_total', 'seckill_sold_out_total',
    'seckill_duplicate_request_total', 'seckill_duplicate_user_total', 'seckill_request_duration_seconds',
  ],
  '§12.2 Redis': [
    'reservation_lua_duration', 'reservation_lua_errors', 'redis_stock_value', 'reservation_pending_count', 'reservation_oldest_pending_age', 'reservation_retry_count',
    'redis_failover_total', 'redis_replication_lag',
  ],
  '§12.3 Message queue': [
    'message_send_success_rate', 'message_send_unknown_total', 'message_send_duration', 'consumer_tps', 'consumer_lag', 'oldest_message_age', 'retry_message_total', 'dlq_message_total',
  ],
  '§12.4 PostgreSQL': [
    'order_create_tps', 'order_create_duration', 'inventory_token_claim_duration', 'inventory_token_empty_total', 'inbox_conflict_total', 'order_unique_conflict_total',
    'database_pool_acquired', 'database_pool_waiting', 'lock_wait_duration', 'transaction_rollback_total', 'wal_bytes', 'replication_lag',
  ],
  '§12.5 Consistency': [
    'redis_reserved_count', 'postgres_order_created_count', 'postgres_token_claimed_count', 'postgres_token_sold_count', 'reservation_released_count', 'compensation_pending_count',
    'inventory_conservation_delta',
  ],
};

/** Paper `001` §12.2, whose rows name no metric: which ones answer them. */
export const PAPER_ROWS: readonly (readonly [string, readonly string[]])[] = [
  ['Pool: acquired, idle, total, acquire duration, timeout', ['database_pool_acquired', 'database_pool_idle', 'database_pool_total', 'database_pool_waiting', 'database_pool_acquire_duration', 'database_pool_timeout_total']],
  ['Transactions: TPS, commit, rollback, deadlock, serialization retry', ['database_transactions_total', 'database_commits', 'database_rollbacks', 'database_deadlocks', 'database_conflict_total', 'seckill_order_transaction_retries_total']],
  ['Stock: success of conditional updates, sold out in the database, lock waits', ['seckill_order_results_total', 'inventory_token_empty_total', 'inventory_token_claim_duration', 'lock_wait_duration', 'database_lock_waiters']],
  ['Inbox: new, repeated', ['inbox_new_total', 'inbox_conflict_total', 'inbox_size']],
  ['Outbox: PENDING, RETRY, DEAD, oldest age', ['outbox_event_count', 'outbox_oldest_age']],
  ['SQL: P50, P95, P99, rows (buffers and WAL of a statement need `pg_stat_statements`)', ['database_statement_duration', 'database_statement_rows_total']],
  ['Vacuum: dead tuples, delay, bloat', ['database_table_dead_tuples', 'database_table_rows', 'database_table_vacuum_age', 'database_table_bytes', 'database_table_hot_update_share']],
  ['WAL: bytes, archive failure, checkpoint', ['wal_bytes', 'database_archive_failures', 'database_checkpoints', 'database_checkpoint_seconds']],
  ['Replication: write, flush, replay lag, synchronous replicas', ['replication_lag', 'replication_lag_seconds', 'database_replicas', 'database_sync_replicas']],
  ['Business: orders, paid, cancelled, conservation', ['postgres_orders_count', 'inventory_conservation_delta']],
];

/** Which roles a file serves: first match. A file of the recorder's users that matches nothing fails the test. */
const ROLES_OF_FILES: readonly (readonly [RegExp, string])[] = [
  [/\/gateway\//, 'gateway'],
  [/\/fulfilment\/|ledger\/ledger-metrics/, 'consumer'],
  [/figures\/redis-figures|outbox\/projector/, 'projector'],
  [/figures\/|outbox\/relay-/, 'relay'],
  [/recovery\/scanner/, 'scanner'],
  [/recovery\/reconcil/, 'reconciler'],
  [/recovery\/undertaker/, 'undertaker'],
  [/recovery\/compensation/, 'compensator'],
  [/recovery\/retention/, 'retention'],
  [/recovery\/dead-letter-sender/, 'consumer, projector, closer'],
  [/payment\/start-closer/, 'closer'],
  [/payment\//, 'payment'],
  [/compose\/ports/, 'payment, closer, compensator, undertaker'],
  [/order-log\/consumer-metrics/, 'every role that consumes'],
  [/order-log\/measured-producer/, 'every role that sends'],
  [/ledger\/pool-metrics/, 'every role with PostgreSQL'],
  [/stock\//, 'every role with Redis'],
];

export function rolesOf(path: string): string | null {
  return ROLES_OF_FILES.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

interface Row {
  readonly name: string;
  readonly types: ReadonlySet<MetricType>;
  readonly meaning: string;
  readonly roles: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

function rowsOf(sources: readonly MetricSource[]): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const { name, type, meaning, path, labels } of [...sources].sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))) {
    const known = rows.get(name);
    rows.set(name, {
      name,
      types: new Set([...(known?.types ?? []), type]),
      meaning: known?.meaning ?? meaning,
      roles: new Set([...(known?.roles ?? []), rolesOf(path) ?? '?']),
      labels: new Set([...(known?.labels ?? []), ...labels]),
    });
  }
  return rows;
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ name, types, roles, labels, meaning }) =>
    `| \`${name}\` | ${[...types].join(', ')} | ${[...roles].join(', ')} | ${[...labels].sort().map((label) => `\`${label}\``).join(' ')} | ${meaning.replaceAll('|', '\\|')} |`);
  return ['| name | type | role | labels | meaning |', '|---|---|---|---|---|', ...lines].join('\n');
}

/** The page. Sections of the papers first, then what is left. */
export function metricsPage(sources: readonly MetricSource[]): string {
  const rows = rowsOf(sources);
  const pick = (names: readonly string[]): Row[] => names.flatMap((name) => rows.get(name) ?? []);
  const inPapers = new Set([...Object.values(PAPER_NAMES).flat(), ...PAPER_ROWS.flatMap(([, names]) => names)]);
  const left = [...rows.values()].filter(({ name }) => !inPapers.has(name));
  return [
    '# Metrics',
    '',
    'Written from the sources by `npx vitest run --project unit test/metrics-page.test.ts -u`; the same test fails when this page is old.',
    '',
    'Every role serves `/metrics` from a registry of its own. Each series also carries `role`, `instance` and `availability_zone`. Durations and ages are seconds, whatever the',
    'name says; the names are those of the papers. No label holds a user, request, reservation, message or order id: a test scrapes all roles and looks. The usual',
    '`process_*` and `nodejs_*` series are there too. Gauges that have to be asked for come every `storeFiguresIntervalMs` (5 s, 0: never) and less often from a slow store.',
    '',
    ...Object.entries(PAPER_NAMES).flatMap(([title, names]) => [`## Paper 000 ${title}`, '', table(pick(names)), '']),
    '## Paper 001 §12.2',
    '',
    '| asked for | answered by |',
    '|---|---|',
    ...PAPER_ROWS.map(([asked, names]) => `| ${asked} | ${names.map((name) => `\`${name}\``).join(' ')} |`),
    '',
    table([...new Set(PAPER_ROWS.flatMap(([, names]) => pick(names)))].filter(({ name }) => !Object.values(PAPER_NAMES).flat().includes(name))),
    '',
    '## Besides',
    '',
    table(left),
    '',
  ].join('\n');
}
