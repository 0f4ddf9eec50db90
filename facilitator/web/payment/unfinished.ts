import { unfinishedStates } from "../../payment-states.ts";
import type { PaymentStory } from "../../payments.ts";

const states: readonly string[] = unfinishedStates;

export function isUnfinished({ state }: Pick<PaymentStory, "state">): boolean {
  return states.includes(state);
}
