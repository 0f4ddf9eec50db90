import type { ServerResponse } from "node:http";

/** Calls `then` once the response is over, sent or not: at once if it is over already. */
export function onceClosed(response: ServerResponse, then: () => void): void {
  if (response.destroyed) then();
  else response.once("close", then);
}
