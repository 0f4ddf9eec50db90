import type { Made } from "./ask.ts";

/** What was made last in this tab, so that a reload of the page shows it again. */
export interface LastDrawing {
  readonly made: Made;
  readonly draws: boolean;
  readonly label: string;
  readonly fileName: string;
}

/** One that is too large is not kept. */
export function keepDrawing(account: string | undefined, drawing: LastDrawing): void {
  try {
    sessionStorage.removeItem(keyOf(account));
    sessionStorage.setItem(keyOf(account), JSON.stringify(drawing));
  } catch {
    // Where nothing can be kept, a reload begins anew.
  }
}

export function findDrawing(account: string | undefined): LastDrawing | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(account)) ?? "") as LastDrawing;
  } catch {
    return undefined;
  }
}

/** By account, as others may sign in in this tab. */
const keyOf = (account = "none") => `drawing of ${account}`;
