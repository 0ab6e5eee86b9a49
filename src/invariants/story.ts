/** The parts of a biography: whose it is, and one line of it. */
import type { BiographyLine } from '../facts/verdict.js';

/** Any of the names a thing has; the rest is found out. */
export interface Subject {
  readonly reservationId?: string | null;
  readonly requestId?: string | null;
  readonly userId?: string | null;
  readonly orderId?: string | null;
  readonly messageId?: string | null;
  readonly tokenId?: string | null;
}

export interface TimedLine {
  readonly wallUs: number | null;
  readonly source: BiographyLine['source'];
  readonly text: string;
}
