/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { duration } from "../../../shared/page/figures.ts";
import { momentOf } from "../../../shared/page/time.tsx";
import type { PaymentStory } from "../../payments.ts";
import { failureMeaning, idUsed, type ReasonMeaning, sameAgain } from "../../reasons.ts";
import { isUnfinished } from "./unfinished.ts";

/** The transaction succeeded, and moved something else than was agreed. */
const otherTransfer = "invalid_exact_evm_transfer_event_mismatch";

/** The payer signed something else with the same nonce, or cancelled it. */
const usedElsewhere = "invalid_exact_evm_nonce_already_used";

/** What the state means for the payer, and what to do. */
export function PaymentState({ story, json, now }: { story: PaymentStory; json: string; now: Date }) {
  const expires = new Date(story.expires_at);
  const isOver = expires <= now;
  const explorer = story.explorer && (
    <ButtonLink size="small" icon="external" href={story.explorer}>
      Open in the explorer
    </ButtonLink>
  );
  if (isUnfinished(story)) {
    const isSent = story.state !== "claimed";
    return (
      <div data-payment={json} data-state={isSent ? `${story.state} ${story.transaction}` : story.state}>
        <Callout tone={story.state === "unknown" ? "maybe" : "info"} title={titleOf(story)}>
          {isSent ? "It was sent" : "It has been claimed"}{" "}
          {isOver ? (
            <>and can no longer land since {momentOf(expires)}; the chain is asked what became of it. </>
          ) : (
            <>
              and can still land until <b class="strong num">{momentOf(expires)}</b>, in{" "}
              {duration(expires.getTime() - now.getTime())}.{" "}
            </>
          )}
          The chain is asked again and again, and this page changes by itself. Do not pay again: post the same payment,
          and it is settled once.
          <div class="row">
            <ButtonLink size="small" icon="retry" href="">
              Ask again
            </ButtonLink>
            {explorer}
          </div>
        </Callout>
      </div>
    );
  }
  if (story.state === "settled") {
    if (!story.landedByAnother) return null;
    return (
      <Callout tone="warn" title="It landed in a transaction that this facilitator did not send">
        The money moved as agreed. Who sent it knew the payment, too.
      </Callout>
    );
  }
  const meaning = meaningOf(story);
  return (
    <Callout tone="bad" title={meaning?.means ?? "It did not settle"}>
      {movedBy(story)}
      {remedyOf(story, meaning, isOver)} Reason: <code class="icode">{story.error_reason}</code>
      {explorer && <div class="row">{explorer}</div>}
    </Callout>
  );
}

function titleOf({ state, retryable }: Pick<PaymentStory, "state" | "retryable">): string {
  if (state !== "claimed") return "This facilitator has not seen the end of this payment yet";
  return retryable ? "This payment is sent once it is posted again" : "This payment is about to be sent";
}

/** Why it failed, in the words of its chain. */
export function meaningOf({ error_reason: reason, ...story }: PaymentStory): ReasonMeaning | undefined {
  return failureMeaning(reason ?? "", isEvm(story) ? "evm" : "hedera");
}

function isEvm({ network }: Pick<PaymentStory, "network">): boolean {
  return network.startsWith("eip155:");
}

function movedBy({ error_reason: reason, ...story }: PaymentStory): string {
  if (reason === otherTransfer) return "";
  if (reason === usedElsewhere) return "This payment moved nothing; what used its nonce before may have. ";
  if (reason === idUsed && !isEvm(story)) return "This payment moved nothing; what used its id before may have. ";
  return "No money moved. ";
}

function remedyOf(
  { retryable, expires_at: expires }: PaymentStory,
  meaning: ReasonMeaning | undefined,
  isOver: boolean,
): string {
  if (retryable && !isOver)
    return `The same payment is still good until ${momentOf(new Date(expires))}: post it again.`;
  if (isOver && meaning?.remedy === sameAgain) return "Its time is over: have the client make a new payment.";
  return meaning?.remedy ?? "Have the client make a new payment.";
}
