import { storeFirst } from "../payment/room.ts";
import { ownName } from "./account-here.ts";
import type { Answer } from "./result.ts";

/** Keeps the last answer in the tab, so that a reload of the page, or coming back to it, shows it again. One that is too large is not kept. */
export function keepAnswer(agent: string, answer: Answer): void {
  try {
    storeFirst(keyOf(agent), JSON.stringify(answer));
  } catch {
    forgetAnswer(agent);
  }
}

export function findAnswer(agent: string): Answer | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(agent)) ?? "") as Answer;
  } catch {
    return undefined;
  }
}

function forgetAnswer(agent: string): void {
  try {
    sessionStorage.removeItem(keyOf(agent));
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

const keyOf = (agent: string) => `answer ${ownName(agent)}`;
