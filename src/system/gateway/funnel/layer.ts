/** What a layer of the funnel is: something that lets a request pass, or answers it on the spot. */
import type { FunnelLayerName } from '../../../domain/funnel.js';
import type { GatewayAnswer } from '../answers.js';
import type { ValidReservation } from '../validate.js';

/** Null: passes. A promise only where the layer has to wait: on the hot path a promise costs ten times the decision. */
export type LayerVerdict = GatewayAnswer | null;

export interface FunnelLayer {
  readonly name: FunnelLayerName;
  pass(request: ValidReservation): LayerVerdict | Promise<LayerVerdict>;
  /**
   * What the layer does, in this very turn, with everybody of a SKU whom the gateway does not know: `passes` them all, or refuses them all with this answer, whose
   * request id is empty. Left out: it looks at each by himself.
   */
  standing?(skuId: string): 'passes' | GatewayAnswer;
}
