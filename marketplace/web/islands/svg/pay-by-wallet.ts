import { WalletPanel } from "../payment/wallet-panel.ts";
import type { Bench } from "./bench.ts";
import { isDrawing } from "./is-drawing.ts";
import { payForDrawing, paymentUnderWay } from "./pay.ts";
import { finishUnderWay } from "./under-way.ts";

/**
 * A wallet can pay for what the form says, where drawings can be paid for at the moment; a payment whose answer was lost by a reload
 * fetches it.
 */
export function takeWallets(form: HTMLFormElement, bench: Bench): void {
  const button = form.querySelector("[data-run=wallet]");
  if (button) payBy(button, form, bench);
  const underWay = paymentUnderWay();
  if (underWay) void finishUnderWay(form, bench, underWay);
}

function payBy(button: Element, form: HTMLFormElement, bench: Bench): void {
  const panel = new WalletPanel(form);
  button.addEventListener("click", () => {
    const { chosen } = panel;
    if (!chosen) return;
    // A drawing that is paid for already comes first, and is shown under its own words, whatever the form says by now.
    const unended = paymentUnderWay(isDrawing(form));
    if (unended) return void finishUnderWay(form, bench, unended);
    void bench.order((order) => payForDrawing(order, bench.priceOf(order), chosen));
  });
}
