/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { duration } from "../../../../shared/page/figures.ts";
import { Rail, type Stop } from "../../../../shared/page/rail.tsx";
import type { RunReport } from "../../../runs/own-run.ts";
import { creditsOf } from "../../money.tsx";
import { tookMs } from "./run-words.tsx";

/** The stops that the run's credits have passed; a free run moves none. */
export function CreditsRail({ run }: { run: RunReport }) {
  const { postings, state } = run;
  const of = (kind: "hold" | "capture" | "release") => postings.find((posting) => posting.kind === kind);
  const [held, charged, released] = [of("hold"), of("capture"), of("release")];
  if (!held) return null;
  const ended = charged ?? released;
  const stops: Stop[] = [
    { name: "Asked", state: "done", time: clock(run.created_at), say: run.key?.name ?? "Website" },
    { name: "Held", state: "done", say: creditsOf(held.credits) },
    state === "running"
      ? { name: "Running", state: "now" }
      : state === "succeeded"
        ? { name: "Ran", state: "done", time: duration(tookMs(run)), say: "result kept" }
        : { name: "Failed", state: "bad", time: duration(tookMs(run)), say: "no result" },
    released
      ? { name: "Given back", state: "end", time: clock(released.created_at), say: creditsOf(released.credits) }
      : {
          name: "Charged",
          state: ended ? "end" : "ahead",
          time: ended && clock(ended.created_at),
          say: ended && creditsOf(ended.credits),
        },
  ];
  return (
    <section class="card" aria-labelledby="credits-title">
      <div class="card-head rail-head">
        <h2 id="credits-title">Credits</h2>
        <Badge tone={charged || released ? "ok" : "info"} dot>
          {charged ? "charged" : released ? "given back" : "held"}
        </Badge>
      </div>
      <div class="card-body">
        <Rail stops={stops} />
      </div>
    </section>
  );
}

const clock = (at: string) => at.slice(11, 23);
