/** For the tests of the layers: a valid request, with what the test is about. */
import type { GatewayAnswer } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer, LayerVerdict } from './layer.js';

export function aRequest(change: Partial<ValidReservation> = {}): ValidReservation {
  return { sku: { activityId: '7', skuId: '70' }, requestId: 'r-1', userId: '42', payloadHash: 'ff', permit: null, deviceId: null, ...change };
}

/** The verdict of a layer that does not wait: `passed`, or the code. */
export function saidBy(layer: FunnelLayer, request: ValidReservation = aRequest()): string {
  const verdict = layer.pass(request);
  if (verdict instanceof Promise) throw new Error('this layer was expected not to wait');
  return said(verdict);
}

export function said(verdict: LayerVerdict | GatewayAnswer): string {
  return verdict === null ? 'passed' : verdict.answer.code;
}
