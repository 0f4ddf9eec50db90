import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { type Answers, jsonAnswer, requestBody } from "../shared/endpoint.ts";
import { noStore } from "../shared/http.ts";
import { networkOf } from "../shared/networks.ts";
import type { ValkeyCounts } from "../shared/valkey-counts.ts";
import type { Config } from "./config.ts";
import { extensionResponses } from "./discovery/extension-responses.ts";
import { holdSeconds } from "./holds/store.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { errorExamples, refusals } from "./http/error-shape.ts";
import type { CallCounts } from "./limits/call-counts.ts";
import { callerOf } from "./limits/clients.ts";
import { type LimitedVerb, limitCalls } from "./limits/guards.ts";
import {
  paymentBodyBytesMax,
  paymentBodyShape,
  releaseBodyShape,
  releaseShape,
  settleErrorShape,
  settleShape,
  verifyErrorShape,
  verifyShape,
} from "./payment-shapes.ts";
import { type ReleaseNeeds, release } from "./release.ts";
import { type SettleNeeds, settle } from "./settle.ts";
import type { Settled } from "./settlements/answer.ts";
import { type VerifyNeeds, verify } from "./verify.ts";

/** What sellers ask of a facilitator. They are the hot paths: served first, with nothing before them that is not needed. */
export function paymentEndpoints(needs: Needs): Endpoint[] {
  return [verifyEndpoint(needs), settleEndpoint(needs), releaseEndpoint(needs)];
}

type Needs = VerifyNeeds &
  SettleNeeds &
  ReleaseNeeds & {
    readonly callCounts: CallCounts;
    readonly valkey: ValkeyCounts | undefined;
    readonly config: Pick<Config, "clients" | "limits">;
  };

const bodyLimits = { bytesMax: paymentBodyBytesMax };

function verifyEndpoint(needs: Needs): Endpoint {
  return {
    method: "post",
    path: "/verify",
    id: "verifyPayment",
    tag: "Payments",
    summary: "Would this payment settle now?",
    description:
      "Checks a payment by every rule of its scheme and settles nothing. A payment that is refused is a 200 with the " +
      `reason. The amount of a valid one is held of the payer's balance until it is settled, released, or ${holdSeconds} seconds ` +
      "have passed, so that what a payer has in flight is not promised twice.",
    access: "payments",
    before: guardsOf(needs, "verify"),
    body: requestBody(paymentBodyShape, examplePayment, bodyLimits),
    answers: {
      200: jsonAnswer(verifyShape, { isValid: true, payer: examplePayer, holdId: exampleHoldId }, withExtensions),
      ...errorAnswers("verify", (error, invalidReason) =>
        jsonAnswer(verifyErrorShape, { ...error, isValid: false, invalidReason, invalidMessage: error.error }),
      ),
    },
    handler: async (request, response) => {
      const answer = await verify(needs, request.body, callerIn(needs, request));
      reportExtensions(needs, response, request.body, answer.isValid);
      response.json(answer);
    },
  };
}

function settleEndpoint(needs: Needs): Endpoint {
  const common = { transaction: exampleTransaction, network: exampleNetwork, payer: examplePayer };
  return {
    method: "post",
    path: "/settle",
    id: "settlePayment",
    tag: "Payments",
    summary: "Settles a payment and waits for the chain, 60 seconds at most.",
    description:
      "Checks the payment again, sends it and waits until the chain has it; it needs no /verify before. However often one " +
      "payment is posted, one caller gets `success: true`. `settlement_pending` is no failure: send the same again to " +
      "learn the outcome.",
    access: "payments",
    before: guardsOf(needs, "settle"),
    body: requestBody(paymentBodyShape, examplePayment, bodyLimits),
    answers: {
      200: jsonAnswer(settleShape, { success: true, ...common }, withExtensions),
      ...errorAnswers("settle", (error, errorReason) =>
        jsonAnswer(settleErrorShape, {
          ...error,
          success: false,
          errorReason,
          errorMessage: error.error,
          transaction: "",
          network: "",
        }),
      ),
    },
    handler: async (request, response) => {
      const settled = await settle(needs, request.body, callerIn(needs, request));
      reportExtensions(needs, response, request.body, settled.response.success);
      await sendSettled(response, settled);
    },
  };
}

function releaseEndpoint(needs: Needs): Endpoint {
  return {
    method: "post",
    path: "/release",
    id: "releaseHold",
    tag: "Payments",
    summary: "Gives up one verification.",
    description:
      "For a seller that will not settle what it verified: the payer's money is free at once. What another verification " +
      "of the same payment holds stays, and so does what is being settled.",
    access: "payments",
    before: guardsOf(needs, "release"),
    body: requestBody(releaseBodyShape, { holdId: exampleHoldId }, bodyLimits),
    answers: {
      200: jsonAnswer(releaseShape, { released: true }),
      ...refusals({ 400: { error: "holdId is required.", field: "holdId" } }, 401, 408, 413, 503),
    },
    handler: async (request, response) => {
      response.json(await release(needs, request.body));
    },
  };
}

const callerIn = ({ config }: Needs, { headers }: Request) => callerOf(config.clients, headers.authorization);

function guardsOf({ callCounts, valkey, config }: Needs, verb: LimitedVerb): readonly RequestHandler[] {
  return [noStore, limitCalls(valkey ?? callCounts, config, verb)];
}

/** The errors of /verify and /settle, each in the shape that `answer` gives it. */
function errorAnswers(
  verb: "verify" | "settle",
  answer: (error: { error: string }, reason: string) => Answers[number],
): Answers {
  const statuses = [400, 401, 408, 413, 429, 500, 503] as const;
  const reasonOf = (status: number) => (status < 500 ? "invalid_payload" : `unexpected_${verb}_error`);
  return Object.fromEntries(statuses.map((status) => [status, answer(errorExamples[status], reasonOf(status))]));
}

function reportExtensions({ config }: Needs, response: Response, body: unknown, isPaid: boolean): void {
  const report = extensionResponses(body, isPaid, config.discovery);
  if (report !== undefined) response.setHeader("EXTENSION-RESPONSES", report);
}

/** A success whose caller hung up before it was written can still be fetched by the caller's one retry. */
async function sendSettled(response: Response, { response: body, undelivered }: Settled): Promise<void> {
  if (undelivered && response.req.socket.destroyed) return undelivered();
  response.json(body);
}

const withExtensions = {
  headers: {
    "EXTENSION-RESPONSES": z
      .string()
      .describe(
        'Base64 of JSON by extension, e.g. {"bazaar":{"status":"processing"}}; only when an extension was sent.',
      ),
  },
};

const exampleNetwork = "eip155:84532";
const exampleUsdc = networkOf(exampleNetwork)?.stablecoins[0];
const examplePayer = "0x857b06519E91e3A54538791bDbb0E22373e36b66";
const exampleTransaction = "0x89c91c789e57059b17285e7ba1716a1f5ff4c5dace0ea5a5135f26158d0421b9";
const exampleHoldId = "hold_1842_0197a3c2-9d1e-4c55-8f7a-3b1f0c2d4e5f";

const exampleRequirements = {
  scheme: "exact",
  network: exampleNetwork,
  amount: "10000",
  asset: exampleUsdc?.asset ?? "",
  payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
  maxTimeoutSeconds: 60,
  extra: { ...exampleUsdc?.domain },
};

/** The example in x402's specification of version 2. It has expired, so /verify refuses it today. */
const examplePayment = {
  x402Version: 2 as const,
  paymentPayload: {
    x402Version: 2 as const,
    resource: { url: "https://api.example.com/premium-data" },
    accepted: exampleRequirements,
    payload: {
      signature:
        "0x2d6a7588d6acca505cbf0d9a4a227e0c52c6c34008c8e8986a1283259764173608a2ce6496642e377d6da8dbbf5836e9bd15092f9ecab05ded3d6293af148b571c",
      authorization: {
        from: examplePayer,
        to: exampleRequirements.payTo,
        value: exampleRequirements.amount,
        validAfter: "1740672089",
        validBefore: "1740672154",
        nonce: "0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480",
      },
    },
  },
  paymentRequirements: exampleRequirements,
};
