/** What a layer of the funnel is: something that lets a request pass, or answers it on the spot. */
import type { FunnelLayerName } from '../../../domain/funnel.js';
import type { GatewayAnswer } from '../answers.js';
import type { ValidReservation } from '../validate.js';

/** Null: passes. A promise only where the layer has to wait: on the hot path a promise costs ten times the decision. */
export type LayerVerdict = GatewayAnswer | null;

export interface FunnelLayer {
  readonly name: FunnelLayerName;
  pass(request: ValidReservation): LayerVerdict | Promise<LayerVerdict>;
}
