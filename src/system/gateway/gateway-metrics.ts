/** What the gateway counts of its answers (paper `000` §12.1). All series are bound once, since this is the hot path. */
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { CounterRecorder, HistogramRecorder, MetricLabels, RoleMetrics } from '../role-metrics.js';
import type { GatewayAnswer } from './answers.js';

export type RequestKind = 'submit' | 'query';

/** Told of every answer. `skuId`: as the path of the request names it. */
export type AnswerRecorder = (kind: RequestKind, answer: GatewayAnswer, startedAtMs: number, skuId: string) => void;

interface SkuRecorders {
  readonly duration: Readonly<Record<RequestKind, HistogramRecorder>>;
  readonly byCode: Readonly<Record<RequestKind, Readonly<Record<AnswerCode, CounterRecorder>>>>;
  readonly accepted: CounterRecorder;
  readonly rejected: CounterRecorder;
  readonly limited: CounterRecorder;
  readonly soldOut: CounterRecorder;
  readonly repeated: CounterRecorder;
  readonly userHasOne: CounterRecorder;
}

function recordersOf(metrics: RoleMetrics, labels: MetricLabels): SkuRecorders {
  const duration = (request: RequestKind): HistogramRecorder => metrics.histogram('seckill_request_duration_seconds', 'From the parsed request to its answer', { ...labels, request });
  const byCode = (request: RequestKind): Readonly<Record<AnswerCode, CounterRecorder>> =>
    Object.fromEntries(ANSWER_CODES_BY_NUMBER.map((code) => [code, metrics.counter('seckill_requests_total', 'Requests by what they were told', { ...labels, request, result_code: code })])) as Record<AnswerCode, CounterRecorder>;
  return {
    duration: { submit: duration('submit'), query: duration('query') },
    byCode: { submit: byCode('submit'), query: byCode('query') },
    accepted: metrics.counter('seckill_requests_accepted_total', 'Purchases that were told 202, each request id once', labels),
    rejected: metrics.counter('seckill_requests_rejected_total', 'Purchases that were told an error or a refusal, whatever its cause', labels),
    limited: metrics.counter('seckill_rate_limited_total', 'Purchases that were told 429', labels),
    soldOut: metrics.counter('seckill_sold_out_total', 'Purchases that were told 410', labels),
    repeated: metrics.counter('seckill_duplicate_request_total', 'Purchases whose request id had been accepted before', labels),
    userHasOne: metrics.counter('seckill_duplicate_user_total', 'Purchases of users who have one already', labels),
  };
}

/** Ids in a path are the client's to choose, so any but the configured SKUs share one series. */
export function answerRecorder(metrics: RoleMetrics, config: Pick<RoleConfig, 'activityId' | 'skuIds'>): AnswerRecorder {
  const of = (skuId: string): SkuRecorders => recordersOf(metrics, { activity_id: config.activityId, sku_id: skuId });
  const known = new Map(config.skuIds.map((skuId) => [skuId, of(skuId)]));
  const other = of('other');
  return (kind, { answer, httpStatus }, startedAtMs, skuId) => {
    const recorders = known.get(skuId) ?? other;
    recorders.duration[kind].observe((performance.now() - startedAtMs) / 1_000);
    recorders.byCode[kind][answer.code].add();
    if (kind === 'query') return;
    if (httpStatus === 202) recorders.accepted.add();
    else if (httpStatus === 200) recorders.repeated.add();
    else recorders.rejected.add();
    if (httpStatus === 429) recorders.limited.add();
    if (httpStatus === 410) recorders.soldOut.add();
    if (answer.code === 'USER_HAS_ONE') recorders.userHasOne.add();
  };
}
