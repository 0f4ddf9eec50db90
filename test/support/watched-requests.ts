import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";

/** The requests for `path` that servers of this process begin to answer, from now on until `stop`. */
export function watchRequests(path: string): WatchedRequests {
  const begun: IncomingMessage[] = [];
  const note = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.url === path) begun.push(request);
  };
  subscribe("http.server.request.start", note);
  return { begun, stop: () => void unsubscribe("http.server.request.start", note) };
}

interface WatchedRequests {
  readonly begun: readonly IncomingMessage[];
  stop(): void;
}
