import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { type Answer, jsonAnswer, type Shapes } from "../../shared/endpoint.ts";
import { atomicPerCredit } from "../answers/amounts.ts";
import { exampleRunId, exampleUrl } from "../http/examples.ts";
import { errorShape, moment, runId } from "../http/shapes.ts";
import { output, receipt } from "../runs/shapes.ts";
import { stablecoinOn } from "../stablecoins.ts";
import { maxTimeoutSeconds } from "../time-limits.ts";
import type { ListedDebt } from "./debts.ts";
import type { Debt } from "./paid-calls/redemption.ts";

export const paidResultShape = z
  .object({ success: z.literal(true), run_id: runId, output, receipt })
  .meta({ id: "PaidResult" });

export const paidFailureShape = z
  .union([
    z.object({
      success: z.literal(false),
      run_id: runId,
      error: z.string(),
      charged: z.boolean().optional(),
      advice: z.string().optional(),
    }),
    errorShape,
  ])
  .meta({ id: "PaidFailure" });

const signInShape = z
  .looseObject({ "sign-in-with-x": z.looseObject({}) })
  .optional()
  .describe(
    "Beside a settled payment that is taken only from who shows the wallet that paid: what that wallet is to sign " +
      "(EIP-4361; on Hedera the same text), for the SIGN-IN-WITH-X header.",
  );

const quoteShape = z
  .object({
    x402Version: z.int(),
    error: z.string(),
    accepts: z.array(
      z.looseObject({
        scheme: z.literal("exact"),
        network: z.string().describe("CAIP-2, such as `hedera:mainnet`."),
        asset: z.string(),
        amount: z.string().describe("Atomic units; the asset has 6 decimals."),
        payTo: z.string(),
        resource: z.string(),
        maxTimeoutSeconds: z.int(),
        extra: z
          .looseObject({ quoteId: z.string() })
          .describe(
            "What a wallet must know to sign. Settle with it whole: `quoteId` is what makes the payment yours here.",
          ),
      }),
    ),
    extensions: signInShape,
    proof: z
      .looseObject({})
      .optional()
      .describe(
        "Beside a payment that has not the form it must have: header, encoding, JSON, and `payload` by network.",
      ),
    guide: z.string().describe("How to sign and send a payment, in plain text."),
    catalog: z.string().describe("All that is paid per call here."),
  })
  .meta({ id: "PaymentQuote" });

/** A payment that bought its result already: without an offer, since a buyer who signs one pays twice. */
const spentShape = z
  .object({
    x402Version: z.int(),
    error: z.string().describe("Begins with `already_settled`."),
    charged: z.literal(true).describe("This payment was charged, once."),
    advice: z.string(),
    accepts: z.array(z.never()).max(0).describe("Empty: there is nothing to pay."),
    extensions: signInShape,
  })
  .meta({ id: "PaymentSpent" });

/** What a 402 carries where calls are paid one by one. */
const unpaidShape = z.union([quoteShape, spentShape]);

const debt = {
  agent: z.string().describe("`handle/slug`."),
  network: z.string(),
  transaction: z.string(),
  asset: z.string(),
  amount: z.string().describe("Base units of the asset."),
};

export const owedShape = z
  .object({ error: z.string(), charged: z.literal(true), debt: covering<Debt>()(z.object(debt).meta({ id: "Debt" })) })
  .meta({ id: "DebtOutcome" });

export const debtsShape = z
  .object({
    debts: z.array(
      covering<Omit<ListedDebt, "created_at" | "updated_at">>()(
        z.object({
          ...debt,
          payer: z.string().nullable(),
          error: z.string().nullable().describe("Why there is no result, where that is known."),
        }),
      )
        .extend({ created_at: moment, updated_at: moment })
        .meta({ id: "ListedDebt" }),
    ),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: "Debts" });

/** How a caller pays with the request. */
export const paymentRequestHeaders: Shapes = {
  "PAYMENT-SIGNATURE": z.string().describe("The payment, x402 version 2. Without a payment the answer is the quote."),
  "X-PAYMENT": z.string().describe("The payment, x402 version 1."),
  "SIGN-IN-WITH-X": z
    .string()
    .describe("Shows the wallet that paid, beside a settled payment; base64 of JSON, as the 402 asks for it."),
};

export const settlementHeaders: Shapes = {
  "PAYMENT-RESPONSE": z.string().describe("The settlement, base64 of JSON."),
  "X-PAYMENT-RESPONSE": z.string().describe("The same."),
};

/** What examples are paid in: USDC on Base. */
export const examplePaid = { network: "eip155:8453", asset: stablecoinOn("eip155:8453")?.asset ?? "" };

/** The 402 of a call that is paid with its request: its price, and where to pay. `price` is in credits. */
export function quoteAnswer(path: string, price: bigint): Answer {
  const { network, asset } = examplePaid;
  const { domain } = stablecoinOn(network) ?? {};
  const payTo = `0x${"5a".repeat(20)}`;
  const amount = String(price * atomicPerCredit);
  const terms = { scheme: "exact" as const, network, asset, amount, payTo, resource: `${exampleUrl}${path}` };
  const extra = { ...domain, quoteId: "q1.7Yk2wq" };
  return jsonAnswer(
    unpaidShape,
    {
      x402Version: 1,
      error: "Payment is required.",
      accepts: [{ ...terms, maxTimeoutSeconds, extra }],
      guide: `${exampleUrl}/llms.txt`,
      catalog: `${exampleUrl}/api/x402/catalog`,
    },
    {
      description:
        "Without `charged`: not paid, and nothing was charged; sign one of `accepts`. With `charged: true` the payment that came " +
        "has bought its result already, which was handed out: there is no offer, and nothing is to be paid anew.",
    },
  );
}

export const paidAnswer: Answer = jsonAnswer(
  paidResultShape,
  { success: true, run_id: exampleRunId, output: { kind: "text", text: "Each call pays its creator." }, receipt: null },
  { headers: settlementHeaders },
);

/** The 503 of what is paid with the request: a failed run says so where its payment is settled. */
export const unavailableAnswer: Answer = jsonAnswer(
  paidFailureShape,
  {
    success: false,
    run_id: exampleRunId,
    error: "The chain is busy; try again later.",
    charged: true,
    advice:
      "The payment was settled and stays good for this agent until one run succeeds: Post the same proof with the same input to " +
      "run again without paying.",
  },
  {
    description:
      "Not possible right now, or the run failed after its payment was settled (`charged: true`). Post the same payment again " +
      "after `Retry-After`; do not pay anew.",
  },
);

/** The 500 of what is paid with the request. */
export const failedAnswer = (error: string): Answer =>
  jsonAnswer(paidFailureShape, {
    success: false,
    run_id: exampleRunId,
    error,
    charged: false,
    advice: "Nothing was charged.",
  });
