/**
 * A payment that was signed. It can be kept as JSON. A holder can have what it buys, and post it as often as it takes: its
 * money moves once at most.
 */
export interface SignedPayment {
  /** Names the purchase: what is bought, and the name that its buyer gave it. */
  readonly id: string;
  readonly path: string;
  readonly body: string;
  /** The value of the PAYMENT-SIGNATURE header. */
  readonly header: string;
  /** The call needs the account's key besides: credits are bought for an account. */
  readonly isWithKey: boolean;
  /** Tells that key apart from others. */
  readonly key?: string;
  readonly network: string;
  readonly asset: string;
  /** Base units. */
  readonly amount: string;
  readonly payTo: string;
  readonly payer: string;
  /** How it is asked about. */
  readonly asked: Readonly<Record<string, string>>;
  /** ISO 8601. */
  readonly signedAt: string;
  /** Later it can no longer land. */
  readonly endsAt: string;
}
