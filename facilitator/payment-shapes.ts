import { z } from "zod";
import { covering } from "../shared/covering.ts";
import type { SettleResponse, VerifyResponse } from "../shared/x402.ts";
import { holdSeconds } from "./holds/store.ts";
import { errorFields } from "./http/error-shape.ts";

/** The x402 wire contract as shapes, for the OpenAPI document; payment-request.ts decides what /verify and /settle read. */

/** The largest body of /verify, /settle and /release. */
export const paymentBodyBytesMax = 64 * 1024;

const network = z.string().describe("CAIP-2 (`eip155:84532`, `hedera:testnet`); version 1 also by its own names.");
const baseUnits = z.string().describe("Whole base units in decimal.");
const anyObject = z.looseObject({});

const requirements = {
  scheme: z.string(),
  network,
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.int(),
  extra: anyObject.nullish(),
};

const requirementsV1 = z
  .looseObject({
    ...requirements,
    maxAmountRequired: baseUnits.optional().describe("Or `amount`; if both, they must be equal."),
    amount: baseUnits.optional(),
    resource: z.string().optional(),
    description: z.string().optional(),
    mimeType: z.string().optional(),
    outputSchema: anyObject
      .nullish()
      .describe(
        "Lists the resource in the catalog if its own quote says so as well, unless `input.discoverable` is false.",
      ),
  })
  .meta({ id: "PaymentRequirementsV1" });

const requirementsV2 = z.looseObject({ ...requirements, amount: baseUnits }).meta({ id: "PaymentRequirements" });

const resource = z.looseObject({
  url: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  serviceName: z.string().optional(),
  tags: z.array(z.string()).optional(),
  iconUrl: z.string().optional(),
});

const payloadV1 = z
  .looseObject({
    x402Version: z.literal(1),
    scheme: z.string().optional(),
    network: network.optional(),
    payload: anyObject,
  })
  .meta({ id: "PaymentPayloadV1" });

const payloadV2 = z
  .looseObject({
    x402Version: z.literal(2),
    accepted: anyObject.describe("What the payer agreed to; must match the requirements."),
    payload: anyObject.describe("`{signature, authorization}` on EVM chains, `{transaction}` on Hedera."),
    resource: resource.optional(),
    extensions: anyObject
      .optional()
      .describe(
        "`bazaar` lists the resource in the catalog once the payment has settled, if its own quote declares it as well.",
      ),
  })
  .meta({ id: "PaymentPayload" });

export const paymentBodyShape = z
  .union([
    z.looseObject({
      x402Version: z.literal(2).optional(),
      paymentPayload: payloadV2,
      paymentRequirements: requirementsV2,
    }),
    z.looseObject({
      x402Version: z.literal(1).optional(),
      paymentPayload: payloadV1,
      paymentRequirements: requirementsV1,
    }),
  ])
  .meta({ id: "PaymentBody" });

export const verifyShape = covering<VerifyResponse>()(
  z
    .object({
      isValid: z.boolean(),
      invalidReason: z.string().optional(),
      invalidMessage: z.string().optional(),
      payer: z.string().optional(),
      holdId: z
        .string()
        .optional()
        .describe(
          `The payment's amount is held of the payer's balance until it is settled, released, or ${holdSeconds} s have passed.`,
        ),
    })
    .meta({ id: "VerifyResponse" }),
);

export const releaseBodyShape = z
  .looseObject({ holdId: z.string().describe("As /verify gave it.") })
  .meta({ id: "ReleaseBody" });

export const releaseShape = z
  .object({ released: z.boolean().describe("False when it was over already, or never there.") })
  .meta({ id: "Release" });

export const settleShape = covering<SettleResponse>()(
  z
    .object({
      success: z.boolean().describe("True for one caller a payment."),
      transaction: z.string().describe("The chain's transaction id; empty when there is none."),
      network: z.string().describe("As the caller named it."),
      errorReason: z
        .string()
        .optional()
        .describe("`settlement_pending`: unknown yet, send the same again. `already_settled`: see `transaction`."),
      errorMessage: z.string().optional(),
      payer: z.string().optional(),
      landedByAnother: z
        .literal(true)
        .optional()
        .describe(
          "Beside a success: the payment was settled in a transaction that is none of this service's. Its sender " +
            "knew the payment, too, so let the presenter show the payer's wallet before anything is handed out. Beside " +
            "`already_settled`: the same, where the terms asked about name a quote and are those that were asked about first.",
        ),
      termsDigest: z
        .string()
        .optional()
        .describe(
          "Beside `already_settled`, where the terms asked about name a quote (`extra.quoteId`) and are those that this payment was settled for, by this service: the hex SHA-256 of the JSON array [scheme, network (CAIP-2), asset, payTo, amount, extra.quoteId, resource]; addresses of EVM chains in lower case, the resource's URL without query and fragment or null. `already_settled` alone proves nothing: every reader of the chain can present a settled payment.",
        ),
    })
    .meta({ id: "SettleResponse" }),
);

export const verifyErrorShape = z.object({ ...errorFields, ...verifyShape.shape }).meta({ id: "VerifyError" });
export const settleErrorShape = z.object({ ...errorFields, ...settleShape.shape }).meta({ id: "SettleError" });
