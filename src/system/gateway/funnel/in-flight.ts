/** The bound on requests in hand, as the last layer: who passes it has to `leave`. */
import type { Admission } from '../admission.js';
import { limited } from '../answers.js';
import type { FunnelLayer } from './layer.js';

export function createInFlightLayer(admission: Admission): FunnelLayer {
  return { name: 'in-flight', pass: ({ requestId }) => (admission.enter() ? null : limited(requestId)) };
}
