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
export type Decide = (request: ValidReservation) => GatewayAnswer | Promise<GatewayAnswer>;

/** One answer per item, in their order. Waits for the last one. Never rejects. */
export async function decideBatch(items: readonly BatchItem[], sku: SkuKey, decide: Decide, log: RoleSurroundings['log']): Promise<readonly GatewayAnswer[]> {
  const decided: GatewayAnswer[] = new Array<GatewayAnswer>(items.length);
  const waiting: Promise<void>[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (item === undefined) break;
    const answer = item.ok ? begin(item.value) : answers.invalid(item.problems, item.requestId);
    if (answer instanceof Promise) {
      waiting.push(answer.then((late) => {
        decided[index] = late;
      }));
    } else {
      decided[index] = answer;
    }
  }
  if (waiting.length > 0) await Promise.all(waiting);
  return decided;

  function begin(request: ValidReservation): GatewayAnswer | Promise<GatewayAnswer> {
    try {
      const answer = decide(request);
      return answer instanceof Promise ? answer.catch((error: unknown) => failed(request, error)) : answer;
    } catch (error) {
      return failed(request, error);
    }
  }

  /** A bug. Whether this one was reserved is not known; what the others hear is true. */
  function failed({ requestId }: ValidReservation, error: unknown): GatewayAnswer {
    log('error', 'an item of a batch failed by a bug', { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    return answers.resultUnknown(sku, requestId);
  }
}
