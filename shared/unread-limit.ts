import type { RequestHandler, Response } from "express";
import { clientOf } from "./client-address.ts";
import { ApiError } from "./errors.ts";
import { onceClosed } from "./response-closed.ts";

/**
 * For routes whose answers may be megabytes, and are not refused once they are made: a caller whose address has left so many bytes of
 * them unread is refused before anything is begun. Throws ApiError 429.
 */
export function limitUnread(bytesPerAddress = 33_554_432): RequestHandler {
  const byClient = new Map<string, Set<Response>>();
  return (request, response, next) => {
    const client = clientOf(request.ip ?? "");
    const open = byClient.get(client) ?? new Set();
    let unread = 0;
    for (const { writableLength } of open) unread += writableLength;
    if (unread > bytesPerAddress) {
      const headers = { "retry-after": "5" };
      throw new ApiError("rate_limited", "Read the answers that are on their way to this address first.", { headers });
    }
    byClient.set(client, open.add(response));
    onceClosed(response, () => {
      open.delete(response);
      if (open.size === 0 && byClient.get(client) === open) byClient.delete(client);
    });
    next();
  };
}
