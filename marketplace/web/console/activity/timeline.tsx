/** @jsxRuntime automatic @jsxImportSource preact */

import { historyDays } from "../../../history-days.ts";
import type { RunReport } from "../../../runs/own-run.ts";
import { networkName } from "../../agent/networks.tsx";
import { creditsOf } from "../../money.tsx";

interface Happened {
  readonly at: string;
  readonly what: string;
  readonly more: string;
  readonly tone?: "ok" | "bad" | "now" | "maybe" | undefined;
}

/** What happened when, to the millisecond, with the credits that moved. */
export function Timeline({ run }: { run: RunReport }) {
  return (
    <div class="card">
      <div class="card-body">
        <ol class="timeline">
          {happened(run).map(({ at, what, more, tone }) => (
            <li class={tone && `is-${tone}`}>
              <time datetime={at}>{at.slice(11, 23)}</time>
              <span>
                {what} <span class="dim">{more}</span>
              </span>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

function happened(run: RunReport): Happened[] {
  const { key } = run;
  const by = key ? `With the key “${key.name}”.` : "Signed in, on the website.";
  const all: Happened[] = [
    { at: run.created_at, what: "Run asked for.", more: by, tone: "ok" },
    // What happened at the same millisecond stands in this order.
    ...run.postings.filter(({ kind }) => kind === "hold").map(posted),
    ...run.transactions.flatMap(onChain),
    ...endOf(run),
    ...run.postings.filter(({ kind }) => kind !== "hold").map(posted),
  ];
  return all.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function posted({ kind, credits, created_at: at }: RunReport["postings"][number]): Happened {
  const amount = creditsOf(credits);
  switch (kind) {
    case "hold":
      return { at, what: `${amount} set aside.`, more: "From the balance to the run.", tone: "ok" };
    case "capture":
      return { at, what: `${amount} charged.`, more: "From the run to the creator.", tone: "ok" };
    case "release":
      return { at, what: `${amount} given back.`, more: "Nothing was charged.", tone: "ok" };
    case "reward":
      return { at, what: `${amount} rewarded.`, more: "From the creator to the balance.", tone: "ok" };
  }
}

function onChain({ network, state, created_at: at, updated_at: ended }: RunReport["transactions"][number]): Happened[] {
  const chain = networkName(network);
  const begun: Happened = {
    at,
    what: `Transaction begun on ${chain}.`,
    more: "Written down before it was sent.",
    tone: "ok",
  };
  if (state === "open") {
    return [begun, { at: ended, what: "Not known yet.", more: `${chain} has not told how it ended.`, tone: "maybe" }];
  }
  if (state === "void")
    return [begun, { at: ended, what: "It did not happen.", more: `${chain} has nothing of it.`, tone: "bad" }];
  return [begun, { at: ended, what: `Done on ${chain}.`, more: "The chain has told so.", tone: "ok" }];
}

function endOf({ state, finished_at: at, created_at: from, error }: RunReport): Happened[] {
  if (at === null) return [{ at: from, what: "It runs.", more: "Its credits are held.", tone: "now" }];
  if (state === "succeeded")
    return [{ at, what: "Agent finished.", more: `Its result is kept for ${historyDays} days.`, tone: "ok" }];
  if (state === "lost")
    return [{ at, what: "The run was lost.", more: error ?? "The service was interrupted.", tone: "bad" }];
  return [{ at, what: "Agent failed.", more: error ?? "", tone: "bad" }];
}
