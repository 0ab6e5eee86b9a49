/**
 * Decides the items of a batch, each as if it had come alone: every layer of the funnel sees every item, repeats inside the batch meet each other in the
 * reserve call, and what fails fails for the one caller that it concerns.
 */
import type { SkuKey } from '../../../domain/ids.js';
import type { RoleSurroundings } from '../../role.js';
import * as answers from '../answers.js';
import type { GatewayAnswer } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { BatchItem } from './read-batch.js';

/** Decides one request; what needs no waiting comes without a promise. */
export interface Decider {
  decide(request: ValidReservation): GatewayAnswer | Promise<GatewayAnswer>;
}

/** One answer per item, in their order. Waits for the last one. Never rejects. */
export async function decideBatch(items: readonly BatchItem[], sku: SkuKey, decider: Decider, log: RoleSurroundings['log']): Promise<readonly GatewayAnswer[]> {
  const decided: GatewayAnswer[] = new Array<GatewayAnswer>(items.length);
  let waitsFor = 0;
  let allThere = (): void => undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (item === undefined) break;
    if (item.ok) begin(index, item.value);
    else decided[index] = answers.invalid(item.problems, item.requestId);
  }
  if (waitsFor > 0) {
    await new Promise<void>((resolve) => {
      allThere = resolve;
    });
  }
  return decided;

  function begin(index: number, request: ValidReservation): void {
    try {
      const answer = decider.decide(request);
      if (answer instanceof Promise) wait(index, request, answer);
      else decided[index] = answer;
    } catch (error) {
      decided[index] = failed(request, error);
    }
  }

  /** One promise an item: ten thousand winners come at once, and what they hang on is copied by every collection until they are answered. */
  function wait(index: number, request: ValidReservation, answer: Promise<GatewayAnswer>): void {
    const there = (late: GatewayAnswer): void => {
      decided[index] = late;
      waitsFor -= 1;
      if (waitsFor === 0) allThere();
    };
    waitsFor += 1;
    answer.then(there, (error: unknown) => {
      there(failed(request, error));
    });
  }

  /** A bug. Whether this one was reserved is not known; what the others hear is true. */
  function failed({ requestId }: ValidReservation, error: unknown): GatewayAnswer {
    log('error', 'an item of a batch failed by a bug', { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    return answers.resultUnknown(sku, requestId);
  }
}
