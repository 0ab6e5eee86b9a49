/**
 * The log of a role: one JSON object a line on stderr, by pino, so that stdout stays free and the lines of many processes can be merged by
 * time. Ids carry the names of paper `000` §12.6; a user id never leaves the process as it is.
 *
 * The destination is synchronous: a line is in the kernel before the call returns, so that a killed process loses at most the line it was
 * writing. Lines are rare (an outage is one line, not one a request), so this costs the hot path nothing.
 */
import { createHmac } from 'node:crypto';

import { trace } from '@opentelemetry/api';
import { destination, pino, type DestinationStream } from 'pino';

import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleName } from '../../domain/roles.js';
import { availabilityZone, logKey, logLevel } from '../placement.js';
import type { RoleSurroundings } from '../role.js';

type Fields = Readonly<Record<string, string | number | boolean | null>>;

/** What callers call a thing → what paper `000` §12.6 and `001` §12.1 call it. Anything else keeps its name. */
const PAPER_NAMES: Readonly<Record<string, string>> = {
  requestId: 'request_id', reservationId: 'reservation_id', messageId: 'message_id', activityId: 'activity_id', skuId: 'sku_id', orderId: 'order_id',
  inventoryTokenId: 'inventory_token_id', inventoryBucket: 'inventory_bucket', consumerGroup: 'consumer_group', retryCount: 'retry_count', resultCode: 'result_code', errorClass: 'error_class',
  transactionAttempt: 'transaction_attempt', sqlState: 'sqlstate', affectedRows: 'affected_rows', databaseMs: 'db_duration_ms',
  poolAcquireMs: 'pool_acquire_ms', commitResult: 'commit_result', eventId: 'event_id',
};

/** Any of these names means a buyer, however a caller spells it. */
const USER_FIELDS: ReadonlySet<string> = new Set(['userId', 'user_id', 'user']);

const GROUP_OF: Readonly<Partial<Record<RoleName, 'ordersGroup' | 'eventsGroup' | 'closesGroup' | 'deadLettersGroup'>>> = {
  consumer: 'ordersGroup', projector: 'eventsGroup', closer: 'closesGroup', undertaker: 'deadLettersGroup',
};

/** A keyed, shortened hash: the same user is the same everywhere, and a list of user ids does not give the users back without the key. */
export function hashUserId(userId: string, key: string): string {
  return createHmac('sha256', key).update(userId).digest('hex').slice(0, 16);
}

function named(fields: Fields, key: string): Fields {
  const line: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (USER_FIELDS.has(name)) line['user_id_hash'] = value === null ? null : hashUserId(String(value), key);
    else line[PAPER_NAMES[name] ?? name] = value;
  }
  return line;
}

/** Of the trace in whose course the line is written; nothing while tracing is off. */
function traceIds(): Fields {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/** What is the same in every line of a role. */
function contextOf(config: RoleConfig): Fields {
  const group = GROUP_OF[config.role];
  return {
    role: config.role,
    availability_zone: availabilityZone(),
    activity_id: config.activityId,
    ...(config.skuIds.length === 1 ? { sku_id: config.skuIds[0] ?? null } : {}),
    ...(group === undefined ? {} : { consumer_group: config.namespace[group] }),
  };
}

/**
 * Times are real ones whatever the role's clock says: a log that lies about time is of no use where a clock is skewed. `config` null: the
 * process does not know yet what it is. `stream`: for tests; default stderr.
 */
export function createJsonLog(instance: string, config: RoleConfig | null = null, stream: DestinationStream = destination({ fd: 2, sync: true, minLength: 0 })): RoleSurroundings['log'] {
  const key = logKey(config?.namespace.id ?? '');
  const logger = pino(
    {
      level: logLevel(),
      messageKey: 'text',
      base: { instance, ...(config === null ? {} : contextOf(config)) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      mixin: traceIds,
    },
    stream,
  );
  return (level, text, fields = {}) => {
    if (logger.isLevelEnabled(level)) logger[level](named(fields, key), text);
  };
}
