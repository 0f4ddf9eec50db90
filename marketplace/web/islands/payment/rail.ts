import { type StopState, spokenStates } from "../../../../shared/page/stop-states.ts";
import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { el } from "../dom/elements.ts";
import type { KeptPayment } from "./kept.ts";

interface Stop {
  readonly name: string;
  readonly state: StopState;
  readonly time?: string | undefined;
}

/** What happened to it at last, where that is known. */
export type RailEnd = { readonly at: "run" | "payment"; readonly said: string };

/** The course of a purchase: delivered before or after it is settled, and the name of its last stop. */
export interface Course {
  readonly settlesFirst: boolean;
  readonly work: "Ran" | "Credited";
}

export function railOf(
  kept: Partial<KeptPayment>,
  progress: PaymentProgress | undefined,
  course: Course,
  end?: RailEnd,
): HTMLElement {
  const list = el("ol", { class: "rail rail-h" }, ...stopsOf(kept, progress, course, end).map(stopElement));
  return el("div", { class: "rail-box" }, list);
}

function stopsOf(
  kept: Partial<KeptPayment>,
  progress: PaymentProgress | undefined,
  course: Course,
  end?: RailEnd,
): Stop[] {
  const { quotedAt, signedAt } = kept;
  const head: Stop[] = [
    { name: "Quoted", state: quotedAt ? "done" : "now", time: quotedAt ? clock(quotedAt) : undefined },
    ...(quotedAt ? [signedStop(quotedAt, signedAt)] : [ahead("Signed")]),
  ];
  if (end) return [...head, { name: end.at === "run" ? "Run failed" : "Refused", state: "bad" }, ahead(end.said)];
  if (!signedAt) {
    const rest = course.settlesFirst ? ["Verified", "Settled", course.work] : ["Verified", course.work, "Settled"];
    return [...head, ...rest.map(ahead)];
  }
  return [...head, ...stopsAfterSigning(progress, course)];
}

function signedStop(quotedAt: number, signedAt: number | undefined): Stop {
  if (!signedAt) return { name: "Signed", state: "now", time: "in your wallet" };
  return { name: "Signed", state: "done", time: after(signedAt - quotedAt) };
}

function stopsAfterSigning(progress: PaymentProgress | undefined, { settlesFirst, work }: Course): Stop[] {
  const p = progress;
  const isSettled = p?.state === "settled";
  const settling: Reached[] = [
    ["Claimed", isSettled || p?.claimed_at != null, undefined],
    ["Broadcast", isSettled || (p?.claimed_at != null && p.transaction !== null), undefined],
    ["Settled", isSettled, between(p?.claimed_at, p?.settled_at)],
  ];
  const ran: Reached = [work, p?.ran === true, settlesFirst ? undefined : between(p?.verified_at, p?.claimed_at)];
  const verified: Reached = ["Verified", p != null && (p.verified_at !== null || p.claimed_at !== null), undefined];
  const reached = settlesFirst ? [verified, ...settling, ran] : [verified, ran, ...settling];
  if (p?.state === "unknown" || p?.state === "failed") return endOf(reached, p);
  const firstOpen = reached.findIndex(([, isDone]) => !isDone);
  return reached.map(([name, isDone, time], at): Stop => {
    if (isDone) return { name, state: at === reached.length - 1 ? "end" : "done", time };
    return at === firstOpen ? { name: presentOf(name), state: "now" } : ahead(name);
  });
}

type Reached = readonly [name: string, isDone: boolean, time: string | undefined];

/** Unknown is no failure: it says until when the payment can still land. */
function endOf(reached: readonly Reached[], { state, can_land_until: until }: PaymentProgress): Stop[] {
  const done = reached.filter(([, isDone]) => isDone).map(([name, , time]): Stop => ({ name, state: "done", time }));
  if (state === "failed") return [...done, { name: "Not settled", state: "bad" }, ahead("Nothing moved")];
  const by = until === null ? undefined : `by ${clockUtc(until)}`;
  return [...done, { name: "Unknown", state: "maybe" }, { name: "Settled or failed", state: "ahead", time: by }];
}

const presents: Readonly<Record<string, string>> = {
  Ran: "Running",
  Credited: "Crediting",
  Verified: "Verifying",
  Settled: "Settling",
};
const presentOf = (name: string) => presents[name] ?? name;

function ahead(name: string): Stop {
  return { name, state: "ahead" };
}

function stopElement({ name, state, time }: Stop): HTMLElement {
  const isHere = state === "now" || state === "maybe";
  return el(
    "li",
    { class: state === "ahead" ? undefined : `is-${state}`, "aria-current": isHere ? "step" : undefined },
    el("i", { "aria-hidden": "true" }),
    el("b", {}, name),
    time !== undefined && el("time", {}, time),
    el("span", { class: "vh" }, spokenStates[state]),
  );
}

function between(from: string | null | undefined, to: string | null | undefined): string | undefined {
  return from && to ? after(new Date(to).getTime() - new Date(from).getTime()) : undefined;
}

/** `+38 ms`, `+2.94 s`. */
export function after(ms: number): string {
  return ms < 1_000 ? `+${Math.max(0, Math.round(ms))} ms` : `+${(ms / 1_000).toFixed(1)} s`;
}

/** `10:02:20 UTC`. */
export function clockUtc(moment: string): string {
  return `${new Date(moment).toISOString().slice(11, 19)} UTC`;
}

/** In the reader's own time zone: `10:02:20`. */
function clock(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
