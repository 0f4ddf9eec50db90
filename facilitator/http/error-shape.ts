import { z } from "zod";
import type { Answers } from "../../shared/endpoint.ts";

/** The fields of every error; answers of /verify and /settle have more beside them. */
export const errorFields = {
  error: z.string().describe("For a person to read; wording may change."),
  field: z.string().optional().describe("The field or parameter that is wrong, where it is one."),
  network: z.string().optional().describe("The network that is away or cannot settle, where it is one."),
};

const errorShape = z.object(errorFields).meta({ id: "Error" });

/** Refusals in the usual form, `{error}`, by status. */
export function refusals(...statuses: ReadonlyArray<keyof typeof errorExamples>): Answers {
  return Object.fromEntries(
    statuses.map((status) => [status, { content: errorShape, example: errorExamples[status] }]),
  );
}

/** A typical one of each. */
export const errorExamples = {
  400: { error: "paymentRequirements.amount is required.", field: "paymentRequirements.amount" },
  401: { error: "This token is not known here; none is needed." },
  404: { error: "A payment is found by its EVM transaction hash or its Hedera transaction id." },
  408: { error: "Nothing more of the body came for 10 seconds." },
  413: { error: "The body is too large." },
  429: { error: "Too many calls from this address." },
  500: { error: "Something went wrong on our side." },
  503: { error: "The service cannot reach its database; try again shortly." },
} as const;
