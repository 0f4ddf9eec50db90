import { findKept } from "../payment/kept.ts";

/** A drawing as it can be bought without an account. */
export type Product = "svg-vectorize" | "svg-generate" | "svg-generate-hd";
export const products: readonly Product[] = ["svg-vectorize", "svg-generate", "svg-generate-hd"];

/** Whether a payment of this tab waits for its answer. */
export function isPaymentUnderWay(): boolean {
  return products.some((product) => findKept(product).payment !== undefined);
}
