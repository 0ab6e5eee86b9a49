/** What the forms of a batch that are answered in place have in common. */
import type { GatewayAnswer } from '../answers.js';
import type { StandingRefusal } from '../funnel/gateway-funnel.js';
import type { BatchItem } from './read-batch.js';

/** Items that have to be looked at by themselves. */
export interface Others {
  /** Places in the batch, rising. */
  readonly places: readonly number[];
  readonly items: readonly BatchItem[];
}

/** The items of a body, none of which has been made an object. */
export interface ItemsInPlace {
  readonly count: number;
  others(refusal: StandingRefusal): Others;
  /** The body of the answer: `told` at `places`, and the refusal, with each one's own request id where the form has one, everywhere else. */
  write(refusal: GatewayAnswer, places: readonly number[], told: readonly GatewayAnswer[]): Buffer;
}
