import { duration } from "../../../shared/page/figures.ts";
import type { Stop } from "../../../shared/page/rail.tsx";
import type { PaymentStory } from "../../payments.ts";

/** Times are those that the facilitator wrote down, to the millisecond. */
export function stopsOf(story: PaymentStory): readonly Stop[] {
  const claimedAt = new Date(story.created_at);
  const since = (moment: Date | undefined) =>
    moment ? `+${duration(Math.max(0, moment.getTime() - claimedAt.getTime()))}` : undefined;
  const finishedAt = story.finished_at === null ? undefined : new Date(story.finished_at);
  const wasSent = story.broadcastAt !== undefined || (story.transaction !== null && story.state !== "claimed");
  const isSent: Stop = {
    name: "Broadcast",
    state: "done",
    time: since(story.broadcastAt),
    say: "signed bytes stored first",
  };
  const claimed: Stop = { name: "Claimed", state: "done", time: clockOf(claimedAt), say: "verified; one sender" };
  const end: Stop = {
    name: "Settled or failed",
    state: "ahead",
    time: `by ${clockOf(new Date(story.expires_at)).slice(0, 8)}`,
    say: "whichever the chain says",
  };
  switch (story.state) {
    case "claimed":
      return [{ ...claimed, state: "now" }, { ...isSent, state: "ahead", time: undefined }, end];
    case "broadcast":
      return [claimed, { ...isSent, state: "now" }, end];
    case "unknown":
      return [claimed, isSent, { name: "Unknown", state: "maybe", say: "no receipt seen" }, end];
    case "settled":
      return [
        claimed,
        ...(wasSent ? [isSent] : []),
        { name: "Settled", state: "end", time: since(finishedAt), say: "the agreed transfer, seen on the chain" },
      ];
    default:
      return [
        claimed,
        ...(wasSent ? [isSent] : []),
        story.wasTakenBack
          ? { name: "Failed", state: "bad", say: "settled first; its chain took that back" }
          : { name: "Failed", state: "bad", time: since(finishedAt), say: "certainly not settled" },
      ];
  }
}

/** `10:02:20.369`. */
export function clockOf(moment: Date): string {
  return moment.toISOString().slice(11, 23);
}
