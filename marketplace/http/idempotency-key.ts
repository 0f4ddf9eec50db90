import { z } from "zod";
import type { Shapes } from "../../shared/endpoint.ts";
import { ApiError } from "../../shared/errors.ts";
import { historyDays } from "../history-days.ts";

/** The value as it was sent, quotes and all; the IETF draft writes it in quotes, most callers do not. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === "string" && /^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(header)) return header;
  throw new ApiError("bad_request", '"Idempotency-Key" must have 1 to 255 printable ASCII characters.', {
    body: { field: "Idempotency-Key" },
  });
}

export const usedForAnother = () => new ApiError("conflict", usedForAnotherText);
export const usedForAnotherText = "This Idempotency-Key was used for another request.";

/** Headers of requests that are made once, however often they are sent. */
export const idempotencyHeaders: Shapes = {
  "Idempotency-Key": z
    .string()
    .describe(
      "Your own name for the request, 1 to 255 characters: however often it is sent, it runs and charges once, and " +
        `for ${historyDays} days answers the same. Without it, a retry is a second run and a second charge.`,
    ),
};

/** The same for requests that move credits once. */
export const transferHeaders: Shapes = {
  "Idempotency-Key": z
    .string()
    .describe(
      "Your own name for the request, 1 to 255 characters: however often it is sent, it moves the credits once, and " +
        `for ${historyDays} days answers the same. Without it, a retry moves them again.`,
    ),
};

export const replayedHeader: Shapes = {
  "Idempotent-Replayed": z.string().describe("`true` when the answer is that of an earlier request of the same name."),
};
