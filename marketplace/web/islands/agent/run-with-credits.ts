import { figures } from "../../../../shared/page/figures.ts";
import { byId, el } from "../dom/elements.ts";
import { readInput, saysInput, showFieldError } from "../dom/fields.ts";
import { errorOf, jsonOf } from "../payment/answer.ts";
import { findKept, forget, type KeptRun, keep } from "../payment/kept.ts";
import { creditsOf } from "../payment/money.ts";
import { shownTo } from "../payment/shown-to.ts";
import { accountHere, ownName } from "./account-here.ts";
import type { Outcome } from "./outcome.ts";
import type { Price } from "./price.ts";
import type { Output } from "./result.ts";

export interface Running {
  readonly form: HTMLFormElement;
  readonly agent: string;
  /** The agent's address, as the run names it. */
  readonly address: string;
  readonly price: Price;
  readonly outcome: Outcome;
}

/** Runs with the account's credits, at the price shown or not at all. A run whose end is not known yet comes first. */
export async function runWithCredits(running: Running): Promise<void> {
  const { form, agent, address, price } = running;
  const { run: open } = findKept(ownName(agent));
  if (open) return finishRun(running, open, true);
  const input = readInput(form);
  const body = JSON.stringify({ agent: address, input, max_credits: price.credits });
  const run = { name: `page-${crypto.randomUUID()}`, body, input };
  keep(ownName(agent), { run });
  await finishRun(running, run, false);
}

/** Posts the run by its name until its answer is here: under one name it runs and is charged once. */
export async function finishRun(running: Running, run: KeptRun, isResumed: boolean): Promise<void> {
  const { outcome, agent } = running;
  outcome.noPayment();
  outcome.wait(isResumed ? "the answer was lost; it is asked for again" : undefined);
  const startedAt = performance.now();
  // An earlier post may run, or have run: what is refused before its name is looked up says nothing of that.
  let mayRun = isResumed;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const answer = await post(run);
    if (answer && isAboutRun(answer, mayRun)) {
      if (await mayEndOtherwise(answer))
        return outcome.tell("maybe", "Not known yet", `${errorOf(answer.status, answer.body)} ${reload}`);
      forget(ownName(agent), "run");
      return await conclude(running, answer, { run, ms: performance.now() - startedAt, isAgain: isResumed });
    }
    if (answer && (answer.status === 401 || answer.status === 403)) {
      return outcome.tell("maybe", errorOf(answer.status, answer.body), `It may have run before. ${reload}`);
    }
    mayRun = true;
    outcome.wait("not answered; asked for again by the same name");
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
  outcome.tell("maybe", "Not answered yet", reload);
}

const reload = "Reload this page to ask again: it runs and is charged once.";

/** Whether the answer is the run's own, or a refusal after which nothing runs. A proxy's answer, or our failure, is neither. */
function isAboutRun({ status, body }: Posted, mayRun: boolean): boolean {
  if (body.charged === false) return true;
  if (status >= 500) return false;
  return !(mayRun && [401, 403, 408, 429].includes(status));
}

/** Whether a failed run may still end otherwise: its chain had not decided yet, and may have since. */
async function mayEndOtherwise({ status, body }: Posted): Promise<boolean> {
  if (status !== 200 || body.success === true) return false;
  const answer = await fetch(`/api/account/runs/${body.run_id}`).catch(() => undefined);
  const { state } = answer?.ok ? await jsonOf(answer) : {};
  return state !== "failed" && state !== "lost";
}

interface Posted {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post({ name, body }: KeptRun): Promise<Posted | undefined> {
  try {
    const headers = { "content-type": "application/json", "idempotency-key": name, ...shownTo(accountHere()) };
    const answer = await fetch("/api/account/run", { method: "POST", headers, body });
    return { status: answer.status, body: await jsonOf(answer) };
  } catch {
    return undefined;
  }
}

async function conclude(
  running: Running,
  { status, body }: Posted,
  { run, ms, isAgain }: { run: KeptRun; ms: number; isAgain: boolean },
): Promise<void> {
  const { outcome, price, form } = running;
  const error = errorOf(status, body);
  const { credits_required: required, credits_remaining: left } = body;
  if (status === 402 && body.limit_source === "request") {
    // The person did not ask for this answer by pressing Run now: they agreed to the run at an earlier press, at that press's price.
    if (isAgain) return tellRise(running, run, Number(required));
    if (await price.agreedTo(Number(required))) return runWithCredits(running);
    return outcome.tell("info", "Not run", "You did not agree to the new price. Nothing was charged.");
  }
  if (status === 402) {
    const said = `This run costs ${creditsOf(Number(required))}, you have ${Number(left)}. Nothing was charged.`;
    const buy = el("a", { class: "btn", href: "/settings/credits" }, "Buy credits");
    return outcome.tell("warn", "Not enough credits", said, buy);
  }
  if (status === 200 && body.success === true) {
    showBalance(Number(left), price.credits);
    const runId = String(body.run_id);
    const paid = `Paid ${creditsOf(Number(body.credits_used))}. ${creditsOf(Number(left))} left.`;
    const receipt = body.receipt as Record<string, unknown> | null;
    const output = body.output as Output;
    const isOfEarlierInput = !saysInput(form, run.input);
    return outcome.show({ runId, output, receipt, paid, ms, isFoundAgain: isAgain, isOfEarlierInput });
  }
  if (status === 200) return outcome.tell("bad", "The agent failed", `“${error}” Nothing was charged.`);
  outcome.tell("warn", error, body.charged === true ? "It was charged once, when it ran." : "Nothing was charged.");
  showFieldError(form, body.field, error);
}

/** Shows the new price, for the next press to agree to. */
function tellRise({ outcome, price }: Running, { body }: KeptRun, credits: number): void {
  const { max_credits: agreed } = JSON.parse(body) as { max_credits: number };
  price.show(credits);
  const title = `The price rose from ${agreed} to ${creditsOf(credits)}`;
  outcome.tell("info", title, "Nothing was charged. Press Run to agree to the new price.");
}

function showBalance(left: number, price: number): void {
  byId("balance")?.replaceChildren(
    span(`Balance ${creditsOf(left)}`),
    span(left >= price ? `${figures(left - price)} after this run` : "not enough for this run"),
  );
  const buy = byId("buy-credits");
  if (buy) buy.hidden = left >= price;
  const head = document.querySelector(".bar .balance b");
  if (head) head.textContent = figures(left);
}

function span(text: string): HTMLElement {
  const made = document.createElement("span");
  made.textContent = text;
  return made;
}

/** The service itself waits for a run that goes on. */
const attemptsMax = 30;
