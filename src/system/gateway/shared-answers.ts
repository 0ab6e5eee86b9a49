/**
 * Repeats of one request share the answer. They pass every bound, since their answer is owed; so that one client who hammers his own id does not fill the line in front of
 * Redis for all others, at most one of them is in hand and one waits, for all that came meanwhile. An answer is never older than the request that hears it.
 */
import type { GatewayAnswer } from './answers.js';

/**
 * `decide` is called when its turn comes, and for the first of those who wait only. Rejects as it does. Those with another `payload` cannot have the same answer: null, when
 * one of them waits already.
 */
export type ShareAnswer = (key: string, payload: string, decide: () => Promise<GatewayAnswer>) => Promise<GatewayAnswer> | null;

interface InHand {
  readonly running: Promise<GatewayAnswer>;
  /** What those hear who came after `running` began. */
  next: { readonly payload: string; readonly answer: Promise<GatewayAnswer> } | null;
}

export function createSharedAnswers(): ShareAnswer {
  const inHand = new Map<string, InHand>();

  function begin(key: string, decide: () => Promise<GatewayAnswer>): Promise<GatewayAnswer> {
    const mine: InHand = { running: decide(), next: null };
    inHand.set(key, mine);
    const ended = (): void => {
      if (mine.next === null) inHand.delete(key);
    };
    mine.running.then(ended, ended);
    return mine.running;
  }

  return (key, payload, decide) => {
    const there = inHand.get(key);
    if (there === undefined) return begin(key, decide);
    const later = (): Promise<GatewayAnswer> => begin(key, decide);
    there.next ??= { payload, answer: there.running.then(later, later) };
    return there.next.payload === payload ? there.next.answer : null;
  };
}
