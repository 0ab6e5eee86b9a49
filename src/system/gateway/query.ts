/**
 * What became of a request: from Redis, then from PostgreSQL. Nothing is said that neither of them shows, and a miss never sounds like a
 * refusal, since the request may be on its way.
 */
import type { RoleConfig } from '../../domain/role-config.js';
import type { RequestReader } from '../ledger/ledger-port.js';
import type { StockPort } from '../stock/stock-port.js';
import type { Admission, RateLimit } from './admission.js';
import * as answers from './answers.js';
import type { GatewayAnswer } from './answers.js';
import { validateQuery, type RawQuery, type ValidQuery } from './validate.js';

/** Answers one query. Never rejects for an operating failure. */
export type Query = (raw: RawQuery) => Promise<GatewayAnswer>;

export interface QueryDependencies {
  readonly stock: Pick<StockPort, 'lookup'>;
  readonly reader: Pick<RequestReader, 'lookup'>;
  readonly admission: Admission;
  /** What may reach PostgreSQL: it is there for orders, and without Redis every poll of every client would go to it. */
  readonly durableLimit: RateLimit;
  readonly config: Pick<RoleConfig, 'activityId' | 'skuIds'>;
}

export function createQuery({ stock, reader, admission, durableLimit, config }: QueryDependencies): Query {
  const skuIds: ReadonlySet<string> = new Set(config.skuIds);

  async function fromRedis(valid: ValidQuery): Promise<GatewayAnswer> {
    const { sku, requestId, userId } = valid;
    const reply = await stock.lookup(sku, requestId);
    if (reply.outcome === 'done' && reply.record !== null) {
      return reply.record.userId === userId ? answers.stateOfRecord(sku, reply.record) : answers.forbidden();
    }
    return fromPostgres(valid);
  }

  async function fromPostgres({ sku, requestId, userId }: ValidQuery): Promise<GatewayAnswer> {
    if (!durableLimit.take()) return answers.limited(requestId);
    const reply = await reader.lookup(sku, requestId);
    // Redis has shown no record (else we were not here) and PostgreSQL does not answer: neither "queued" nor "not found" can be proved. A
    // request whose record Redis shows has been told its queued state above, without PostgreSQL.
    if (reply.outcome === 'unavailable') return answers.resultUnknown(sku, requestId);
    if (reply.state === null) return answers.notFoundYet(sku, requestId);
    return reply.state.userId === userId ? answers.stateOfRow(sku, reply.state) : answers.forbidden();
  }

  return async (raw) => {
    const validated = validateQuery(raw);
    if (!validated.ok) return answers.invalid(validated.problems, validated.requestId);
    const { value } = validated;
    if (value.sku.activityId !== config.activityId || !skuIds.has(value.sku.skuId)) return answers.notFound();
    if (!admission.enter()) return answers.limited(value.requestId);
    try {
      return await fromRedis(value);
    } finally {
      admission.leave();
    }
  };
}
