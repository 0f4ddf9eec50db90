const askEveryMs = 3_000;
/** A page left open overnight asks no more; the link to ask again stays. */
const asksMax = 400;

/** Shows the payment's next state as soon as there is one: asks for it, and loads the page anew when it has changed. */
const payment = document.querySelector<HTMLElement>("[data-payment]");
if (payment) follow(payment.dataset.payment ?? "", payment.dataset.state ?? "", 1);

function follow(url: string, shown: string, asked: number): void {
  setTimeout(async () => {
    const state = document.hidden ? shown : await stateAt(url);
    if (state !== undefined && state !== shown) location.reload();
    else if (asked < asksMax) follow(url, shown, asked + 1);
  }, askEveryMs);
}

/** Undefined while it cannot be asked. */
async function stateAt(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { headers: { accept: "application/json" } });
    if (!answer.ok) return undefined;
    const { state, transaction } = (await answer.json()) as { state: string; transaction: string | null };
    // A Hedera payment is asked for by its id, which is told before anything was sent.
    return state === "claimed" ? state : `${state} ${transaction}`;
  } catch {
    return undefined;
  }
}
