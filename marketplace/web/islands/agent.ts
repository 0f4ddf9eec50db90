import { accountHere, ownName } from "./agent/account-here.ts";
import { followCode, forgetTried, keepTried, lastTried, writeIntoCode } from "./agent/code.ts";
import { findAnswer } from "./agent/last-answer.ts";
import { offerLost } from "./agent/lost-payments.ts";
import { Outcome } from "./agent/outcome.ts";
import { type Paying, payAndRun, resume, tellFailure } from "./agent/pay-with-wallet.ts";
import { Price } from "./agent/price.ts";
import { runFree } from "./agent/run-free.ts";
import { finishRun, runWithCredits } from "./agent/run-with-credits.ts";
import { byId } from "./dom/elements.ts";
import { chosenValue, clearFieldErrors, readInput, resetInput, writeInput } from "./dom/fields.ts";
import { findKept, type KeptPayment } from "./payment/kept.ts";
import { WalletPanel } from "./payment/wallet-panel.ts";

/** The page on which an agent is tried: one form, three ways to pay, and what became of it. */
const form = byId<HTMLFormElement>("run");
if (form) start(form);

function start(form: HTMLFormElement): void {
  const { agent: address = "", agentId: agent = "", payUrl = "", perCall, settlesFirst } = form.dataset;
  const isSignedIn = accountHere() !== undefined;
  const outcome = new Outcome(agent, settlesFirst !== undefined);
  const price = new Price(form);
  const panel = new WalletPanel(form);
  let isBusy = false;

  followCode();
  hideBarBesideButtons(form);
  const refresh = followInput(form, address);

  const press = async (work: () => Promise<void>): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    busy(form, true);
    clearFieldErrors(form);
    keepTried(address, readInput(form));
    // On a narrow screen the result is below the form, out of sight.
    if (matchMedia("(max-width: 60rem)").matches) byId("outcome")?.scrollIntoView({ block: "start" });
    await work().catch((error: unknown) => tellFailure(paying, error));
    isBusy = false;
    busy(form, false);
  };
  const paying: Paying = {
    form,
    agent,
    address,
    url: payUrl,
    price,
    outcome,
    panel,
    press: (work) => void press(work),
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const method = chosenValue(form, "by");
    if (method === "wallet") return pay();
    const isPaid = price.credits > 0;
    if (isSignedIn && !(isPaid && method === "terminal")) void press(() => runWithCredits(paying));
    else if (!isPaid && perCall !== undefined) void press(() => runFree(form, payUrl, outcome));
    else showWayToPay(form);
  });
  const pay = () => {
    const { chosen } = panel;
    if (!chosen) return showWayToPay(form);
    if (!form.reportValidity()) return;
    // A wallet that was asked to pay lets the page see its account from then on.
    void press(() => payAndRun(paying, chosen)).finally(() => panel.refresh());
  };
  form.querySelector("[data-run=wallet]")?.addEventListener("click", pay);

  goOn(paying, { isSignedIn, refresh });
  const post = (kept: KeptPayment) => resume(paying, kept);
  if (!findKept(agent).payment) void offerLost({ paying, post }).catch(() => {});
}

/** Goes on with a run that was under way when the page was left, or shows the last run where it is opened again. */
function goOn(paying: Paying, { isSignedIn, refresh }: { isSignedIn: boolean; refresh: () => void }): void {
  const { form, agent, outcome } = paying;
  // A wallet belongs to no account: its payment goes on, whichever account is signed in.
  const { payment } = findKept(agent);
  const run = isSignedIn ? findKept(ownName(agent)).run : undefined;
  const answer = isOpenedAgain() ? findAnswer(agent) : undefined;
  if (payment || run) {
    writeInput(form, (payment ?? run)?.input ?? {});
    refresh();
  }
  if (answer) outcome.show(answer);
  if (payment) paying.press(() => resume(paying, payment));
  else if (run) paying.press(() => finishRun(paying, run, true));
}

/** The input is that of the last visit in this tab, where there was one. Answers what has to be done when it was changed. */
function followInput(form: HTMLFormElement, agent: string): () => void {
  const refresh = () => {
    const values = readInput(form);
    writeIntoCode(values);
    keepTried(agent, values);
  };
  form.addEventListener("input", refresh);
  const typed = hasOtherInput() ? undefined : lastTried(agent);
  if (typed) {
    writeInput(form, typed);
    refresh();
    byId("filled-with")?.replaceChildren("The form is filled in as you left it.");
  }
  document.querySelector("[data-reset]")?.addEventListener("click", (event) => {
    forgetTried(agent);
    if (hasOtherInput()) return;
    event.preventDefault();
    resetInput(form);
    clearFieldErrors(form);
    writeIntoCode(readInput(form));
  });
  return refresh;
}

/** The page came with the input of a run, and the link to reset it leads to the one with the example. */
function hasOtherInput(): boolean {
  return ["run", "example"].some((name) => new URLSearchParams(location.search).has(name));
}

/** Where the page cannot pay this way, it scrolls to what can be done instead. */
function showWayToPay(form: HTMLFormElement): void {
  form.querySelector(".pay")?.scrollIntoView({ block: "center" });
}

/** A reload, and coming back from another page, show what was run in this tab before; a new visit does not. */
function isOpenedAgain(): boolean {
  const [entry] = performance.getEntriesByType("navigation");
  return entry instanceof PerformanceNavigationTiming && /^(reload|back_forward)$/.test(entry.type);
}

/** On small windows: the bar at the foot of the window steps aside where a button that does the same is in sight. */
function hideBarBesideButtons(form: HTMLFormElement): void {
  const bar = document.querySelector(".run-bar");
  const inSight = new Set<Element>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) inSight[isIntersecting ? "add" : "delete"](target);
      bar?.classList.toggle("is-spare", inSight.size > 0);
    },
    { rootMargin: "0px 0px -64px" },
  );
  for (const button of form.querySelectorAll(".btn-block")) observer.observe(button);
}

/** One run at a time: buttons show that another press does nothing. */
function busy(form: HTMLFormElement, isBusy: boolean): void {
  // Also those outside it that belong to it.
  for (const button of form.elements) {
    if (!button.matches("[data-run], [type=submit]")) continue;
    button.setAttribute("aria-disabled", String(isBusy));
    button.setAttribute("aria-busy", String(isBusy));
  }
}
