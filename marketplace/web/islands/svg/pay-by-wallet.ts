import { WalletPanel } from "../payment/wallet-panel.ts";
import type { Bench } from "./bench.ts";
import { payForDrawing, paymentUnderWay, type UnderWay } from "./pay.ts";

/** A wallet can pay for what the form says; a payment whose answer was lost by a reload fetches it. */
export function takeWallets(form: HTMLFormElement, bench: Bench): void {
  const panel = new WalletPanel(form);
  let finishing: Promise<void> | undefined;
  const finishOnce = (underWay: UnderWay) => {
    finishing ??= finish(form, bench, underWay).finally(() => (finishing = undefined));
  };
  form.querySelector("[data-run=wallet]")?.addEventListener("click", () => {
    const { wallet, network } = panel;
    if (!wallet) return;
    // What comes then is shown as what it was paid for, whatever the form says by now.
    const unended = paymentUnderWay(new FormData(form).get("make") === "draw");
    if (unended) return finishOnce(unended);
    void bench.order((order) => payForDrawing(order, bench.priceOf(order), { wallet, network }));
  });
  const underWay = paymentUnderWay();
  if (underWay) finishOnce(underWay);
}

async function finish(form: HTMLFormElement, bench: Bench, underWay: UnderWay): Promise<void> {
  const { draws, settings, picture: bought, finish } = underWay;
  const choice = form.querySelector<HTMLInputElement>(`input[name="make"][value="${draws ? "draw" : "trace"}"]`);
  if (choice) choice.checked = true;
  if (bought) await bench.choose(bought, "picture");
  bench.set({});
  await bench.take({ draws, settings, picture: bench.state.picture }, finish);
}
