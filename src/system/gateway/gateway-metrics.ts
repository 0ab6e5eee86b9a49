/** What the gateway counts of its answers (paper `000` §12.1). All series are bound once, since this is the hot path. */
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { CounterRecorder, HistogramRecorder, MetricLabels, RoleMetrics } from '../role-metrics.js';
import type { GatewayAnswer } from './answers.js';

export type RequestKind = 'submit' | 'query';

/** The answers of a batch: one by one, and besides them so many that are alike but for the request id. */
export interface BatchAnswers {
  readonly answers: readonly GatewayAnswer[];
  readonly alike?: { readonly answer: GatewayAnswer; readonly count: number };
}

/** Told of every answer. `skuId`: as the path of the request names it. */
export interface AnswerRecorder {
  answered(kind: RequestKind, answer: GatewayAnswer, startedAtMs: number, skuId: string): void;
  /** Of a batch all at once: its answers go out together, so they took the same time, which is observed once. */
  batchAnswered({ answers, alike }: BatchAnswers, startedAtMs: number, skuId: string): void;
}

interface SkuRecorders {
  readonly duration: Readonly<Record<RequestKind | 'batch', HistogramRecorder>>;
  readonly byCode: Readonly<Record<RequestKind, Readonly<Record<AnswerCode, CounterRecorder>>>>;
  readonly accepted: CounterRecorder;
  readonly rejected: CounterRecorder;
  readonly limited: CounterRecorder;
  readonly soldOut: CounterRecorder;
  readonly repeated: CounterRecorder;
  readonly userHasOne: CounterRecorder;
}

function recordersOf(metrics: RoleMetrics, labels: MetricLabels): SkuRecorders {
  const duration = (request: RequestKind | 'batch'): HistogramRecorder => metrics.histogram('seckill_request_duration_seconds', 'From the parsed request to its answer', { ...labels, request });
  const byCode = (request: RequestKind): Readonly<Record<AnswerCode, CounterRecorder>> =>
    Object.fromEntries(ANSWER_CODES_BY_NUMBER.map((code) => [code, metrics.counter('seckill_requests_total', 'Requests by what they were told', { ...labels, request, result_code: code })])) as Record<AnswerCode, CounterRecorder>;
  return {
    duration: { submit: duration('submit'), query: duration('query'), batch: duration('batch') },
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
  const skuOf = (skuId: string): SkuRecorders => known.get(skuId) ?? other;
  return {
    answered(kind, { answer, httpStatus }, startedAtMs, skuId) {
      const recorders = skuOf(skuId);
      recorders.duration[kind].observe((performance.now() - startedAtMs) / 1_000);
      if (kind === 'query') recorders.byCode.query[answer.code].add();
      else countPurchases(recorders, answer.code, httpStatus, 1);
    },
    batchAnswered({ answers, alike }, startedAtMs, skuId) {
      const recorders = skuOf(skuId);
      recorders.duration.batch.observe((performance.now() - startedAtMs) / 1_000);
      for (const { code, httpStatus, count } of kindsOf(answers)) countPurchases(recorders, code, httpStatus, count);
      if (alike !== undefined && alike.count > 0) countPurchases(recorders, alike.answer.answer.code, alike.answer.httpStatus, alike.count);
    },
  };
}

function countPurchases(recorders: SkuRecorders, code: AnswerCode, httpStatus: number, count: number): void {
  recorders.byCode.submit[code].add(count);
  if (httpStatus === 202) recorders.accepted.add(count);
  else if (httpStatus === 200) recorders.repeated.add(count);
  else recorders.rejected.add(count);
  if (httpStatus === 429) recorders.limited.add(count);
  if (httpStatus === 410) recorders.soldOut.add(count);
  if (code === 'USER_HAS_ONE') recorders.userHasOne.add(count);
}

interface AnswerKind {
  readonly code: AnswerCode;
  readonly httpStatus: number;
  count: number;
}

/** A counter costs as much as the decision it counts, and a batch has few kinds of answers. */
function kindsOf(answers: readonly GatewayAnswer[]): readonly AnswerKind[] {
  const kinds: AnswerKind[] = [];
  let last: AnswerKind | undefined;
  for (const { answer: { code }, httpStatus } of answers) {
    if (last?.code !== code || last.httpStatus !== httpStatus) {
      last = kinds.find((kind) => kind.code === code && kind.httpStatus === httpStatus);
      if (last === undefined) kinds.push((last = { code, httpStatus, count: 0 }));
    }
    last.count += 1;
  }
  return kinds;
}
