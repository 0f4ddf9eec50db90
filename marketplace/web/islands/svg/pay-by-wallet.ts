import { WalletPanel } from "../payment/wallet-panel.ts";
import type { Bench } from "./bench.ts";
import { payForDrawing, paymentUnderWay, type UnderWay } from "./pay.ts";

/**
 * A wallet can pay for what the form says, where drawings can be paid for at the moment; a payment whose answer was lost by a reload
 * fetches it.
 */
export function takeWallets(form: HTMLFormElement, bench: Bench): void {
  const button = form.querySelector("[data-run=wallet]");
  if (button) payBy(button, form, bench);
  const underWay = paymentUnderWay();
  if (underWay) void finish(form, bench, underWay);
}

function payBy(button: Element, form: HTMLFormElement, bench: Bench): void {
  const panel = new WalletPanel(form);
  button.addEventListener("click", () => {
    const { wallet, network } = panel;
    if (!wallet) return;
    // What comes then is shown as what it was paid for, whatever the form says by now.
    const unended = paymentUnderWay(new FormData(form).get("make") === "draw");
    if (unended) return void finish(form, bench, unended);
    void bench.order((order) => payForDrawing(order, bench.priceOf(order), { wallet, network }));
  });
}

let isFinishing = false;

/** One thing at a time: a payment whose drawing is being made already is not posted beside that. */
async function finish(form: HTMLFormElement, bench: Bench, underWay: UnderWay): Promise<void> {
  if (isFinishing || bench.state.since !== undefined) return;
  isFinishing = true;
  try {
    const { draws, settings, picture: bought, finish } = underWay;
    const choice = form.querySelector<HTMLInputElement>(`input[name="make"][value="${draws ? "draw" : "trace"}"]`);
    if (choice) choice.checked = true;
    if (bought) await bench.takePicture(bought, "picture");
    bench.set({});
    await bench.take({ draws, settings, picture: draws ? undefined : bench.state.picture }, finish);
  } finally {
    isFinishing = false;
  }
}
