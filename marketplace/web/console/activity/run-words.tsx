/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge, type Tone } from "../../../../shared/page/badge.tsx";
import type { RunRecord } from "../../../runs/history.ts";
import { creditsOf } from "../../money.tsx";

/** How a run ended, in the API's words. */
export function RunState({ state }: Pick<RunRecord, "state">) {
  return (
    <Badge tone={tones[state]} dot>
      {state}
    </Badge>
  );
}

const tones: Readonly<Record<RunRecord["state"], Tone>> = {
  running: "info",
  succeeded: "ok",
  failed: "bad",
  lost: "warn",
};

/** `12 credits`, `Free`, `–`. */
export function costOf({ state, credits_used: used }: Pick<RunRecord, "state" | "credits_used">): string {
  if (state !== "succeeded") return "–";
  return used === 0 ? "Free" : creditsOf(used);
}

/** How long it took, in milliseconds; undefined while it runs. */
export function tookMs({ created_at: from, finished_at: to }: Moments): number | undefined {
  return to === null ? undefined : Date.parse(to) - Date.parse(from);
}

interface Moments {
  readonly created_at: string;
  readonly finished_at: string | null;
}
