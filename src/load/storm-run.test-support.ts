/** A whole storm in the test's own process: the generator over a temporary folder, without calibrating again for every test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expandArrivalPlan } from '../facts/arrival-plan.js';
import type { Telling } from '../facts/history.js';
import { DEFAULT_MIX, type LoadSpec } from '../facts/load-spec.js';
import { measureGenerator } from '../facts/load-honesty.js';
import type { GeneratorFacts, HistoryColumns } from '../facts/history.js';
import { FirstAnswers } from './first-answers.js';
import { FollowUps } from './follow-ups.js';
import { HistoryRecorder } from './history-recorder.js';
import { monoNowUs } from './mono-clock.js';
import { permitsOf } from './permits.js';
import type { Storm, StormParts } from './storm.js';
import { Ticker } from './ticker.js';

export const PERMIT_SECRET = 'secret of these tests';

export function loadSpec(changes: Partial<LoadSpec> = {}): LoadSpec {
  return {
    seed: 3, ratePerSecond: 1_000, durationMs: 500, shape: { kind: 'constant' }, mix: { ...DEFAULT_MIX, repeatShare: 0 }, transport: 'http', activityId: '1', skuId: '2',
    requestTimeoutMs: 5_000, connections: 64, pollIntervalMs: 50, pollsMax: 20, payers: null, permits: null, ...changes,
  };
}

export interface StormRun {
  readonly columns: HistoryColumns;
  readonly facts: GeneratorFacts;
  readonly tellings: readonly Telling[];
}

/** Blows the storm, which begins when `started` has ended, and lets the follow-up clients ask until `until` holds and then once more. */
export async function blow(load: LoadSpec, open: (parts: StormParts) => Storm, more: { started?(): void | Promise<void>; until?(tellings: readonly Telling[]): boolean } = {}): Promise<StormRun> {
  const plan = expandArrivalPlan(load);
  const recorder = new HistoryRecorder(plan.length);
  const tellings: Telling[] = [];
  const silent = { tell: (telling: Telling) => void tellings.push(telling) };
  const followUps = new FollowUps({ load, plan, tellings: silent, pollsPerSecondMax: 2_000 });
  const parts: StormParts = { load, plan, recorder, followUps, permits: permitsOf(load, plan, PERMIT_SECRET, Date.now), firstAnswers: new FirstAnswers({ load, plan, recorder, tellings: silent, followUps }) };
  const storm = open(parts);
  await storm.open();
  await more.started?.();
  recorder.schedule(monoNowUs() + 5_000, plan.dueUs);
  let polledEnough = more.until === undefined;
  const ticker = new Ticker((nowUs) => {
    if (!storm.finished) storm.tick(nowUs);
    storm.tickFollowUps(nowUs, followUps.tick(nowUs, storm));
    polledEnough ||= more.until?.(tellings) === true;
    if (storm.finished && polledEnough) ended();
  });
  let ended = (): void => undefined;
  await new Promise<void>((resolve) => {
    ended = resolve;
    ticker.start();
  });
  if (more.until !== undefined) await followUps.settle(monoNowUs(), 5_000);
  ticker.stop();
  await storm.close();
  return { columns: recorder.columns, facts: measureGenerator(recorder.columns, { cpuSeconds: 0, maxTickGapUs: ticker.maxGapUs }), tellings };
}

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'seckill-load-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
