/**
 * Answers a batch where memory alone refuses nearly everybody: the mark stands, or the line is full. Ids are looked up as they lie in the body and the refusals' bytes are written
 * beside them, so that who is refused costs no text and no object; of 300,000 arrivals a second all but ten thousand are (docs/decisions/0025). Whoever may be one of the
 * accepted, or known here, is decided like any other item, and so is everybody where nothing stands.
 */
import type { BatchForm } from '../../../domain/batch-contract.js';
import type { SkuKey } from '../../../domain/ids.js';
import type { RoleSurroundings } from '../../role.js';
import type { GatewayAnswer } from '../answers.js';
import type { StandingRefusal } from '../funnel/gateway-funnel.js';
import type { BatchAnswers } from '../gateway-metrics.js';
import { binaryItemsInPlace } from './binary-in-place.js';
import { decideBatch, type Decider } from './decide-batch.js';
import type { ItemsInPlace } from './items-in-place.js';
import { jsonItemsInPlace } from './json-in-place.js';

export interface RefusingDecider extends Decider {
  standingRefusal(sku: SkuKey): StandingRefusal | null;
}

export interface AnsweredInPlace {
  readonly bytes: Buffer;
  readonly told: BatchAnswers;
}

/** Null: the body is not of the form that can be read in place. */
function itemsInPlace(form: BatchForm, body: Buffer, sku: SkuKey): ItemsInPlace | null {
  switch (form) {
    case 'json': return jsonItemsInPlace(body, sku);
    case 'binary': return binaryItemsInPlace(body, sku);
    // Lines are for those who write them by hand.
    case 'ndjson': return null;
  }
}

/** Null: nothing refuses everybody, or the body is not of the plain form. Every layer of the funnel would have said the same of each item. */
export function answerInPlace(form: BatchForm, body: Buffer, sku: SkuKey, decider: RefusingDecider, log: RoleSurroundings['log']): Promise<AnsweredInPlace> | null {
  const refusal = decider.standingRefusal(sku);
  if (refusal === null) return null;
  const batch = itemsInPlace(form, body, sku);
  if (batch === null) return null;
  const { places, items } = batch.others(refusal);
  const count = batch.count - places.length;
  refusal.heard(count);
  const told = (answers: readonly GatewayAnswer[]): AnsweredInPlace => ({ bytes: batch.write(refusal.answer, places, answers), told: { answers, alike: { answer: refusal.answer, count } } });
  return places.length === 0 ? Promise.resolve(told([])) : decideBatch(items, sku, decider, log).then(told);
}
