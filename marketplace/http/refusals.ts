import type { Answers } from "../../shared/endpoint.ts";
import { errorShape } from "./shapes.ts";

/** What each status means to a caller of any endpoint. */
export const meanings: Readonly<Record<number, string>> = {
  200: "As asked.",
  201: "Made.",
  202: "Taken.",
  303: "Go on there.",
  400: "The request is malformed or lacks something required. Nothing was charged.",
  401: "The API key, or the session, is missing, malformed, unknown or at its end.",
  402: "Not paid, or not enough to pay with. Nothing was charged.",
  403: "Not for this page, under this host name, or without an open account.",
  404: "There is no such thing, or it is not live.",
  406: "The answer would not be taken.",
  408: "The body did not arrive in time.",
  409: "It contradicts what is there already.",
  410: "It has been taken down; a payment for it stays on record.",
  413: "The body is too large.",
  415: "The body must be JSON.",
  422: "A value broke a declared rule; the body names the field. Nothing was charged, unless `charged` says so.",
  429: "Too many requests; wait as `Retry-After` says.",
  500: "It failed on this side. Nothing was charged, unless `charged` says so.",
  502: "A service that this one depends on failed. Nothing was charged.",
  503: "Not possible right now; nothing was charged, unless `charged` says so. Try again.",
};

/** Refusals in the usual form, `{error}`, by status. */
export function refusals(...statuses: ReadonlyArray<keyof typeof errors>): Answers {
  return Object.fromEntries(
    statuses.map((status) => [status, { content: errorShape, example: { error: errors[status] } }]),
  );
}

/** A typical text of each. */
const errors = {
  400: '"limit" must be a whole number.',
  401: "A valid API key is required: Authorization: Bearer <API_KEY>.",
  403: "Pages of another origin may not call this.",
  404: "There is nothing there.",
  408: "Nothing more of the body came for 10 seconds.",
  409: "It is there already.",
  410: "The file has been taken down.",
  413: "The body is too large.",
  422: '"text" must be at most 50 characters long.',
  429: "This key allows 60 requests a minute.",
  500: "The service failed to answer.",
  502: "The image model gave no image.",
  503: "The service cannot reach its database; try again shortly.",
} as const;
