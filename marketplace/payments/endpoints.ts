import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { priceMax } from "../agents/definition.ts";
import { agentPathParameters } from "../agents/shapes.ts";
import { dollarAmount } from "../answers/amounts.ts";
import { runBody, smallBody } from "../http/body-limits.ts";
import { accountOf, callerOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleRunId, exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { readQuery } from "../query.ts";
import { refuseUnread } from "../runs/run-answers.ts";
import { noteArrivalOfAnyOrigin, preflightEndpoint } from "./cross-origin.ts";
import { debtsQuery, listDebts } from "./debts.ts";
import { noteArrival } from "./http-transport.ts";
import { debtText } from "./paid-calls/debt-of-call.ts";
import { type PayAgentNeeds, payAgent } from "./pay-agent.ts";
import { progressEndpoint } from "./progress-endpoint.ts";
import { type PurchaseNeeds, purchaseBody, purchaseCredits, purchaseMax } from "./purchase.ts";
import { inputRefusals } from "./refused-input.ts";
import {
  debtsShape,
  examplePaid,
  failedAnswer,
  owedShape,
  paidAnswer,
  paidResultShape,
  paymentRequestHeaders,
  quoteAnswer,
  settlementHeaders,
  unavailableAnswer,
} from "./shapes.ts";

export function paymentEndpoints(needs: Needs): Endpoint[] {
  return [
    agentCallEndpoint(needs),
    preflightEndpoint(),
    progressEndpoint(needs),
    purchaseEndpoint(needs),
    accountPurchaseEndpoint(needs),
    debtsEndpoint(needs),
  ];
}

type Needs = PayAgentNeeds & PurchaseNeeds;

const exampleDebt = {
  agent: exampleAgent,
  ...examplePaid,
  transaction: `0x${"9c".repeat(32)}`,
  amount: "50000",
};

function agentCallEndpoint(needs: PayAgentNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/agent/{handle}/{slug}",
    id: "payAgent",
    tag: "Pay per call",
    summary: "Run one agent and pay this call with a stablecoin over x402; no account, no key.",
    description:
      "Without a payment the answer is a 402 with the quote, and no buyer is charged. Pay it and post the same body again " +
      "with the payment: the agent runs and its creator is paid. A run that fails is not charged (500); a payment that was " +
      "settled all the same stays good, and is posted again (503, or 422 where the input is to blame). A free agent answers " +
      "at once, though not to pages of other origins.",
    access: "public",
    price: { min: "0.00", max: dollarAmount(BigInt(priceMax)) },
    before: [noteArrivalOfAnyOrigin, refuseUnread],
    pathParameters: agentPathParameters,
    body: {
      ...requestBody(
        z.record(z.string(), z.unknown()).describe("The agent's input fields, not wrapped."),
        { text: "Buyers pay per call. Creators are paid at once." },
        runBody,
      ),
      read: "later",
    },
    headers: paymentRequestHeaders,
    answers: {
      200: paidAnswer,
      402: quoteAnswer(`/api/agent/${exampleAgent}`, 5n),
      410: jsonAnswer(
        owedShape,
        { error: debtText, charged: true, debt: exampleDebt },
        { description: "The payment was settled for an agent that is gone. What it owes stays on record." },
      ),
      500: failedAnswer("The language model failed."),
      503: unavailableAnswer,
      ...inputRefusals("text"),
      ...refusals(429, {
        403: "Free agents are run from this service's own pages, or by a program.",
        404: "There is no such agent.",
        409: "The author of this post has been rewarded already.",
      }),
    },
    handler: (request, response) => payAgent(needs, request, response),
  };
}

const purchase = {
  method: "post",
  tag: "Credits",
  price: { min: dollarAmount(1n), max: dollarAmount(BigInt(purchaseMax)) },
  before: [noteArrival],
  body: { ...requestBody(purchaseBody, { credits: 500 }, smallBody), read: "later" },
  headers: paymentRequestHeaders,
  answers: {
    200: jsonAnswer(
      paidResultShape,
      {
        success: true,
        run_id: exampleRunId,
        output: { kind: "json", data: { credits: 500, credits_remaining: 1_440 } },
        receipt: null,
      },
      { headers: settlementHeaders },
    ),
    402: quoteAnswer("/api/v1/credits/purchase", 500n),
  },
} as const satisfies Partial<Endpoint>;

function purchaseEndpoint(needs: PurchaseNeeds): Endpoint {
  return {
    ...purchase,
    path: "/api/v1/credits/purchase",
    id: "purchaseCredits",
    summary: "Buy credits with a stablecoin over x402, for the account of the key.",
    description:
      "Without a payment the answer is a 402 with the quote. With one the credits are the account's, once for each " +
      "payment, also when the answer was lost.",
    access: "apiKey",
    handler: (request, response) => purchaseCredits(needs, callerOf(response).accountId, request, response),
  };
}

function accountPurchaseEndpoint(needs: PurchaseNeeds): Endpoint {
  return {
    ...purchase,
    path: "/api/account/credits/purchase",
    id: "purchaseAccountCredits",
    summary: "The same for who is signed in: buy credits for the account with a stablecoin over x402.",
    description:
      "The quote is that of purchaseCredits, and a payment is good at either of the two: its credits are the account's, " +
      "once. The statement lists the purchase with the payment's transaction.",
    access: "account",
    handler: (request, response) => purchaseCredits(needs, accountOf(response).id, request, response),
  };
}

function debtsEndpoint({ db }: Pick<Needs, "db">): Endpoint {
  const debt = { ...exampleDebt, payer: `0x${"1b".repeat(20)}`, error: "The model did not answer." };
  return {
    method: "get",
    path: "/api/account/debts",
    id: "listDebts",
    tag: "Publishing",
    summary: "Calls of the account's agents whose payment is settled and that have no result yet, newest first.",
    description:
      "Each stays good for its buyer until one run succeeds. For an agent that is gone, it is the buyer's money that is " +
      "owed.",
    access: "account",
    query: debtsQuery,
    answers: {
      200: jsonAnswer(debtsShape, {
        debts: [{ ...debt, created_at: exampleTime, updated_at: exampleTime }],
        limit: 20,
        offset: 0,
      }),
    },
    handler: async (request, response) => {
      const asked = readQuery(debtsQuery, request.query);
      response.json({ debts: await listDebts(db, accountOf(response).id, asked), ...asked });
    },
  };
}
