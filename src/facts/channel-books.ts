/**
 * The books of the payment channel: which money it took from whom, and what it was asked to pay back. Kept by the channel itself, so that what the system says of money
 * can be held against somebody who had it in hand. Amounts are minor units as text, times CLOCK_MONOTONIC microseconds.
 */

/** Money that a client has parted with. */
export interface ChannelCharge {
  /** The channel's number of the deal: each trade is taken once. */
  readonly tradeNo: string;
  readonly provider: string;
  /** Our payment that it was taken for; null where the client named the order only. */
  readonly paymentId: string | null;
  /** As the client named it; it may be nobody's order. */
  readonly orderId: string;
  readonly amount: string;
  readonly currency: string;
  readonly takenUs: number;
}

/** One call that asked for money back, whatever the caller heard of it. */
export interface ChannelRefund {
  /** The caller's key: under one key the channel pays once. */
  readonly refundId: string;
  readonly tradeNo: string;
  readonly amount: string;
  readonly currency: string;
  readonly askedUs: number;
  /** `paid-back`: the money went, at once or soon. `repeated`: it had gone under this key before. `refused`: the channel has no such trade. */
  readonly effect: 'paid-back' | 'repeated' | 'refused';
}

export interface ChannelBooks {
  readonly charges: readonly ChannelCharge[];
  /** In the order in which they were asked for. */
  readonly refunds: readonly ChannelRefund[];
}

export const NO_BOOKS: ChannelBooks = { charges: [], refunds: [] };

/** One charge or refund a line, and a last line with their counts, so that a file that was cut short is known as such. */
export function encodeChannelBooks({ charges, refunds }: ChannelBooks): string {
  const lines = [
    ...charges.map((charge) => ({ kind: 'charge', ...charge })), ...refunds.map((refund) => ({ kind: 'refund', ...refund })),
    { kind: 'end', charges: charges.length, refunds: refunds.length },
  ];
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/** Throws when the file is torn or is not what `encodeChannelBooks` wrote: half of the books proves nothing. */
export function decodeChannelBooks(text: string): ChannelBooks {
  const charges: ChannelCharge[] = [];
  const refunds: ChannelRefund[] = [];
  let ended: { readonly charges: number; readonly refunds: number } | null = null;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (ended !== null) throw new Error('the books of the payment channel go on after their end');
    const { kind, ...row } = JSON.parse(line) as { readonly kind: string };
    if (kind === 'charge') charges.push(row as unknown as ChannelCharge);
    else if (kind === 'refund') refunds.push(row as unknown as ChannelRefund);
    else if (kind === 'end') ended = row as unknown as { readonly charges: number; readonly refunds: number };
    else throw new Error(`the books of the payment channel have a line of kind ${kind}`);
  }
  if (ended?.charges !== charges.length || ended.refunds !== refunds.length) throw new Error('the books of the payment channel are not whole');
  return { charges, refunds };
}
