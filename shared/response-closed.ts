import type { ServerResponse } from "node:http";

/** Calls `then` once the response is over, sent or not: at once if it is over already. */
export function onceClosed(response: ServerResponse, then: () => void): void {
  if (response.destroyed) then();
  else response.once("close", then);
}

/**
 * Closes a response whose connection has ended before its turn came. Node closes only the one that it is writing; what
 * the others hold would be held for ever.
 */
export function closeQueued(response: ServerResponse): void {
  if (response.socket !== null || response.closed) return;
  response.destroyed = true;
  response.emit("close");
}
