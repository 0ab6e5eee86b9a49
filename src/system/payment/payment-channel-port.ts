/** The payment channel as the system asks it: what became of a payment, and give money back. What it tells by itself comes as callbacks. */

export type ChannelState =
  | { readonly outcome: 'told'; readonly status: 'SUCCEEDED' | 'FAILED' | 'PENDING'; readonly tradeNo: string; readonly orderId: string; readonly amount: number; readonly currency: string }
  /** The channel has never heard of the payment: nobody has paid. */
  | { readonly outcome: 'never-heard' }
  | { readonly outcome: 'no-answer'; readonly reason: string };

export interface RefundRequest {
  readonly provider: string;
  /** The channel's key against paying back twice: our payment id. */
  readonly refundId: string;
  readonly tradeNo: string;
  /** In the smallest unit, decimal. */
  readonly amount: string;
  readonly currency: string;
}

/** `refused`: the channel will not, for a cause that asking again does not mend. */
export type RefundEnd = { readonly outcome: 'refunded' } | { readonly outcome: 'pending' | 'refused' | 'no-answer'; readonly reason: string };

/** No call rejects for an operating failure. */
export interface PaymentChannel {
  query(provider: string, paymentId: string): Promise<ChannelState>;
  /** Idempotent by `refundId`. */
  refund(request: RefundRequest): Promise<RefundEnd>;
  close(): Promise<void>;
}
