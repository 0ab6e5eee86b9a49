/** What the bare server of `gateway-http` answers. */
export const BARE_ANSWER_VARIABLE = 'SECKILL_BENCH_ANSWER';

export interface BareAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}
