/** How a payment of a call goes, as the service answers it and as its pages read it. */
export interface PaymentProgress {
  readonly network: string;
  readonly state: ProgressState;
  /** The agent has given a result. */
  readonly ran: boolean;
  /** Its result was handed out to the payment's holder. */
  readonly delivered: boolean;
  readonly delivered_at: string | null;
  readonly transaction: string | null;
  readonly explorer: string | null;
  readonly verified_at: string | null;
  readonly claimed_at: string | null;
  readonly settled_at: string | null;
  /** Null where it is over, or it is not known. */
  readonly can_land_until: string | null;
}

export const progressStates = ["unseen", "verified", "running", "settling", "unknown", "settled", "failed"] as const;
export type ProgressState = (typeof progressStates)[number];
