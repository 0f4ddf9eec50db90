import { z } from "zod";
import type { Answers } from "../../shared/endpoint.ts";

/** The fields of every error; answers of /verify and /settle have more beside them. */
export const errorFields = {
  error: z.string().describe("For a person to read; wording may change."),
  field: z.string().optional().describe("The field or parameter that is wrong, where it is one."),
  network: z.string().optional().describe("The network that is away or cannot settle, where it is one."),
  sent: z
    .literal(false)
    .optional()
    .describe("Where this call of /settle certainly sent nothing; an earlier one of the same payment may have."),
  claimed: z
    .literal(false)
    .optional()
    .describe(
      "Where a payment is not known: this facilitator, which records each before it sends it, has no record of it.",
    ),
};

const errorShape = z.object(errorFields).meta({ id: "Error" });

/** A status, or by status the body that stands for it. */
type Refused = keyof typeof errorExamples | Readonly<Record<number, z.input<typeof errorShape>>>;

/** Refusals in the usual form, `{error}`, by status: with the body given, or the usual one. Tests provoke them. */
export function refusals(...refused: readonly Refused[]): Answers {
  const examples = refused.map((one) => (typeof one === "number" ? { [one]: errorExamples[one] } : one));
  return Object.fromEntries(
    Object.entries(Object.assign({}, ...examples) as Record<string, z.input<typeof errorShape>>).map(
      ([status, example]) => [status, { content: errorShape, example }],
    ),
  );
}

/** A typical one of each. */
export const errorExamples = {
  400: { error: "paymentRequirements.amount is required.", field: "paymentRequirements.amount" },
  401: { error: "This token is not known here; none is needed." },
  408: { error: "Nothing more of the body came for 10 seconds." },
  413: { error: "The body is too large." },
  429: { error: "Too many calls from this address." },
  500: { error: "Something went wrong on our side." },
  503: { error: "The service cannot reach its database; try again shortly." },
} as const;
