import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import type { KeptPayment } from "./kept.ts";
import type { RailEnd } from "./rail.ts";

/** Where the page shows how a payment goes. */
export interface PaymentView {
  payment(kept: Partial<KeptPayment>, told?: PaymentProgress, end?: RailEnd): void;
  noPayment(): void;
  wait(said?: string): void;
}
