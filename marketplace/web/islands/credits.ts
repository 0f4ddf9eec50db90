import { Amount } from "./credits/amount.ts";
import { buy, deliver, tellFailure } from "./credits/purchase.ts";
import { PurchaseView } from "./credits/purchase-view.ts";
import { byId } from "./dom/elements.ts";
import { clearFieldErrors } from "./dom/fields.ts";
import { findKept } from "./payment/kept.ts";
import { WalletPanel } from "./payment/wallet-panel.ts";

/** Buying credits by a wallet in this browser. A payment that is under way goes on after a reload. */
const form = byId<HTMLFormElement>("buy-form");
const place = byId("purchase");
if (form && place) start(form, place);

function start(form: HTMLFormElement, place: HTMLElement): void {
  const buying = {
    form,
    amount: new Amount(form),
    view: new PurchaseView(place),
    keptAs: `credits ${form.dataset.account}`,
  };
  const panel = new WalletPanel(form);
  const button = form.querySelector<HTMLElement>("[data-run=wallet]");
  let isBusy = false;

  const press = async (work: () => Promise<void>) => {
    if (isBusy) return;
    isBusy = true;
    button?.setAttribute("aria-busy", "true");
    button?.setAttribute("aria-disabled", "true");
    clearFieldErrors(form);
    await work().catch((error: unknown) => tellFailure(buying, error));
    isBusy = false;
    button?.setAttribute("aria-busy", "false");
    button?.setAttribute("aria-disabled", "false");
  };
  buying.view.onAskAgain((kept) => void press(() => deliver(buying, kept, true)));

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { chosen } = panel;
    if (!chosen || !form.reportValidity()) return;
    void press(() => buy(buying, chosen)).finally(() => panel.refresh());
  });

  const { payment } = findKept(buying.keptAs);
  if (payment) void press(() => deliver(buying, payment, true));
}
