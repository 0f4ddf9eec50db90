import type { z } from "zod";
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
  410: "It has been taken down, or is no longer kept; a payment for it stays on record.",
  413: "The body is too large.",
  415: "The body must be JSON.",
  422: "A value broke a declared rule; the body names the field. Nothing was charged, unless `charged` says so.",
  429: "Too many requests; wait as `Retry-After` says.",
  500: "It failed on this side. Nothing was charged, unless `charged` says so.",
  502: "A service that this one depends on failed. Nothing was charged.",
  503: "Not possible right now; nothing was charged, unless `charged` says so. Try again; where it is `unknown`, with the same `Idempotency-Key`.",
};

/** A status, or by status what is said: the words alone, or the whole body. */
type Refused = Status | { readonly [status in Status]?: Words };
type Words = string | z.input<typeof errorShape>;
type Status = keyof typeof usualWords;

/** Refusals in the usual form, `{error}`, by status: in the words given, or in the usual ones. Tests provoke each of them. */
export function refusals(...refused: readonly Refused[]): Answers {
  const said = refused.map((one) => (typeof one === "number" ? { [one]: usualWords[one] } : one));
  return Object.fromEntries(
    Object.entries(Object.assign({}, ...said) as Record<string, Words>).map(([status, words]) => {
      const example = typeof words === "string" ? { error: words } : words;
      return [status, { content: errorShape, example }];
    }),
  );
}

const usualWords = {
  400: "The request is malformed.",
  401: "A valid API key is required: Authorization: Bearer <API_KEY>.",
  403: "Pages of another origin may not call this.",
  404: "There is nothing there.",
  408: "Nothing more of the body came for 10 seconds.",
  409: "It is there already.",
  410: "This file has been taken down by its owner.",
  413: "The body is too large.",
  422: '"image" is not a PNG, JPEG or WebP.',
  429: "Too many requests from this address.",
  500: "Something went wrong on our side.",
  502: "A service that this one depends on failed.",
  503: "The service cannot reach its database; try again shortly.",
} as const;
