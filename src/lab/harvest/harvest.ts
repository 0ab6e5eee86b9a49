/**
 * Step 8: reads the facts from each store, side by side, each on its own direct connection. A store that cannot be read whole is missing
 * evidence with its reason, and never an empty list: a judge that needs it says unknown.
 */
import { join } from 'node:path';

import type { ChannelBooks } from '../../facts/channel-books.js';
import type { Evidence, CommitLogFacts, KafkaFacts, PostgresFacts, RedisFacts } from '../../facts/store-facts.js';
import type { HistoryFacts } from '../../facts/history.js';
import type { LotteryDraw } from '../../facts/lottery.js';
import type { StackDescription } from '../../facts/stack-description.js';
import { readChannelBooks } from '../../load/channel-books-file.js';
import { readHistory } from '../../load/read-history.js';
import type { RunPlan } from '../run-plan.js';
import { directRedis, withPostgres } from '../store-clients.js';
import { harvestCommitLog } from './commit-log.js';
import { harvestKafka } from './kafka.js';
import { harvestLottery } from './lottery.js';
import { harvestPostgres } from './postgres.js';
import { harvestRedis } from './redis.js';

export interface HarvestedFacts {
  readonly history: Evidence<HistoryFacts>;
  readonly redis: Evidence<RedisFacts>;
  readonly kafka: Evidence<KafkaFacts>;
  readonly postgres: Evidence<PostgresFacts>;
  readonly commitLog: Evidence<CommitLogFacts>;
  readonly lottery: Evidence<readonly LotteryDraw[]>;
  readonly channel: Evidence<ChannelBooks>;
}

export async function evidenceOf<T>(work: () => Promise<T>): Promise<Evidence<T>> {
  try {
    return { present: true, value: await work() };
  } catch (cause) {
    return { present: false, reason: cause instanceof Error ? cause.message : String(cause) };
  }
}

export async function harvestAll(plan: RunPlan, stack: StackDescription, directory: string): Promise<HarvestedFacts> {
  const sku = { activityId: plan.load.activityId, skuId: plan.load.skuId };
  const { database, id } = plan.namespace;
  const fromRedis = async (): Promise<RedisFacts> => {
    const redis = directRedis(stack.direct.redisPrimary);
    try {
      return await harvestRedis(redis, plan.namespace, sku);
    } finally {
      redis.disconnect();
    }
  };
  const [history, redis, kafka, postgres, commitLog, lottery, channel] = await Promise.all([
    evidenceOf(() => Promise.resolve(readHistory(directory, plan.load))),
    evidenceOf(fromRedis),
    evidenceOf(() => harvestKafka(stack.direct.kafka, plan.namespace)),
    evidenceOf(() => withPostgres(stack.direct.postgres, database, harvestPostgres)),
    evidenceOf(() => withPostgres(stack.direct.postgres, database, (client) => harvestCommitLog(client, id))),
    evidenceOf(() => harvestLottery(join(directory, 'logs'))),
    evidenceOf(() => readChannelBooks(directory, plan.load)),
  ]);
  return { history, redis, kafka, postgres, commitLog, lottery, channel };
}
