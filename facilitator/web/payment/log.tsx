/** @jsxRuntime automatic @jsxImportSource preact */
import { Card } from "../../../shared/page/card.tsx";
import type { PaymentStory } from "../../payments.ts";
import { meaningOf } from "./state.tsx";
import { clockOf } from "./stops.ts";
import { isUnfinished } from "./unfinished.ts";

/** The payment's steps, each with its time to the millisecond. */
export function Log({ story }: { story: PaymentStory }) {
  const lines: Array<readonly [Date, string, string]> = [[new Date(story.created_at), "is-ok", "Verified and claimed"]];
  if (story.broadcastAt) lines.push([story.broadcastAt, "is-ok", "Signed, stored, sent"]);
  if (story.finished_at !== null) {
    const isGood = story.state === "settled" || story.wasTakenBack;
    lines.push([
      new Date(story.finished_at),
      isGood ? "is-ok" : "is-bad",
      isGood ? "Settled as agreed" : failedBecause(story),
    ]);
  }
  return (
    <Card id="log" title="Log">
      <ol class="timeline">
        {lines.map(([at, look, what]) => (
          <li class={look}>
            <time datetime={at.toISOString()}>{clockOf(at)}</time>
            <span>{what}</span>
          </li>
        ))}
        {story.wasTakenBack && (
          <li class="is-bad">
            <time>later</time>
            <span>Taken back by its chain. {failedBecause(story)}</span>
          </li>
        )}
        {isUnfinished(story) && (
          <li class={story.state === "unknown" ? "is-maybe" : "is-now"}>
            <time>now</time>
            <span>{waitingFor(story)}</span>
          </li>
        )}
      </ol>
    </Card>
  );
}

function failedBecause(story: PaymentStory): string {
  return `Failed: ${meaningOf(story)?.means ?? story.error_reason}`;
}

function waitingFor({ state, retryable }: Pick<PaymentStory, "state" | "retryable">): string {
  if (state === "unknown") return "No receipt seen; the chain is asked again";
  return state === "claimed" && retryable
    ? "Nothing was sent; waiting for it to be posted again"
    : "Waiting for the chain";
}
