/** A gateway that is sold out and does nothing else, for the `inproc` transport: what is measured is the generator. */
import type { InprocAnswer, InprocGateway } from '../load/inproc-port.js';

const SOLD_OUT: InprocAnswer = {
  httpStatus: 410,
  answer: { code: 'SOLD_OUT', requestId: null, reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: null },
  location: null,
};

/** As `InprocModule`. */
export function openInprocGateway(): Promise<InprocGateway> {
  return Promise.resolve({ submit: () => SOLD_OUT, query: () => Promise.resolve(SOLD_OUT), metricsText: () => Promise.resolve(''), close: () => Promise.resolve() });
}
