import { z } from "zod";
import { jsonAnswer } from "../shared/endpoint.ts";
import { noStore } from "../shared/http.ts";
import { networkOf, transactionUrl } from "../shared/networks.ts";
import type { Reads } from "../shared/reads.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { refusals } from "./http/error-shape.ts";
import { readQuery } from "./http/query.ts";
import {
  authorizationQuery,
  authorizationShape,
  authorizedPayment,
  payment,
  paymentQuery,
  paymentShape,
} from "./payments.ts";
import { type StatsNeeds, stats, statsQuery, statsShape } from "./stats.ts";
import {
  readList,
  type TransactionsNeeds,
  transactions,
  transactionsQuery,
  transactionsShape,
} from "./transactions.ts";

type Needs = TransactionsNeeds & StatsNeeds & { readonly reads: Reads };

/**
 * The public record. Not cached: a caller that settled a payment may look for it at once, by any filter; only totals and the list
 * of all may be a moment old.
 */
export function recordEndpoints(context: Needs): Endpoint[] {
  return [statsEndpoint(context), transactionsEndpoint(context), paymentEndpoint(context), authorizedEndpoint(context)];
}

function statsEndpoint(context: Needs): Endpoint {
  return {
    method: "get",
    path: "/stats",
    id: "getStats",
    tag: "Record",
    summary: "Settlements added up by day, network and outcome.",
    description: "Counts what was asked to settle on whole UTC days up to this moment. The figures are exact.",
    access: "reads",
    beforeBody: [noStore],
    query: statsQuery,
    answers: {
      200: jsonAnswer(statsShape, {
        env: "testnet",
        days: 1,
        networks: [example.network],
        settlements: 2,
        failed: 0,
        volumeAtomic: "20000",
        successRate: 66.7,
        avgAtomic: "10000",
        medianSettleMs: 1840,
        payers: 1,
        daily: [{ day: "2026-03-02", count: 2, volumeAtomic: "20000" }],
        byNetwork: { [example.network]: 2 },
        byStatus: { settled: 2, failed: 0, rejected: 1 },
      }),
    },
    handler: async (request, response) => {
      const query = readQuery(statsQuery, request.query);
      response.json(await context.reads.run((db) => stats({ ...context, db }, query)));
    },
  };
}

function transactionsEndpoint(context: Needs): Endpoint {
  return {
    method: "get",
    path: "/transactions",
    id: "listTransactions",
    tag: "Record",
    summary: "The public record, newest first.",
    description:
      "Lists what was settled, what failed and what was refused, each with its reason. Ask for the next page with " +
      "`cursor`: nothing is seen twice or missed, whatever is added meanwhile. Old records are read from an archive, a few thousand a " +
      "page: `notice` says when that is why a page is not full.",
    access: "reads",
    beforeBody: [noStore],
    query: transactionsQuery,
    answers: {
      200: jsonAnswer(transactionsShape, {
        env: "testnet",
        transactions: [
          {
            network: example.network,
            status: "settled",
            kind: "settle",
            payer: example.payer,
            pay_to: example.payTo,
            asset: example.asset,
            amount_atomic: "10000",
            resource_url: "https://api.example.com/premium-data",
            tx_id: example.transaction,
            error_reason: null,
            total_ms: 1840,
            created_at: example.time,
            explorer: example.explorer,
          },
        ],
        cursor: null,
        notice: null,
      }),
    },
    handler: async (request, response) => {
      const query = readQuery(transactionsQuery, request.query);
      response.json(await readList(context, query, (db) => transactions({ ...context, db }, query)));
    },
  };
}

function paymentEndpoint(context: Needs): Endpoint {
  return {
    method: "get",
    path: "/payments/{transaction}",
    id: "getPayment",
    tag: "Record",
    summary: "What became of one payment.",
    description:
      "Finds a payment that was claimed here by its transaction. `claimed`, `broadcast` and `unknown` end by themselves as " +
      "`settled` or `failed`; `unknown` is no failure.",
    access: "reads",
    beforeBody: [noStore],
    pathParameters: {
      transaction: z.string().meta({
        description: "EVM transaction hash, or Hedera transaction id as 0.0.5@1.000000002 or 0.0.5-1-000000002.",
        examples: [example.transaction],
      }),
    },
    query: paymentQuery,
    answers: {
      200: jsonAnswer(paymentShape, examplePayment),
      ...refusals({ 404: { error: `No payment is known with transaction ${example.transaction}.`, claimed: false } }),
    },
    handler: async (request, response) => {
      const query = readQuery(paymentQuery, request.query);
      response.json(await payment(context, String(request.params.transaction), query));
    },
  };
}

function authorizedEndpoint(context: Needs): Endpoint {
  return {
    method: "get",
    path: "/payments",
    id: "findPayment",
    tag: "Record",
    summary: "What became of one EVM payment, by what its payer signed.",
    description:
      "Finds a payment that was claimed here by network, payer and nonce, before it has a transaction. Until `expires_at` a " +
      "payment that is not settled can still land: `unknown` is no failure. A Hedera payment is found by its transaction id, " +
      "which its payer gave it.",
    access: "reads",
    beforeBody: [noStore],
    query: authorizationQuery,
    answers: {
      200: jsonAnswer(authorizationShape, {
        ...examplePayment,
        state: "claimed",
        network: exampleEvmNetwork,
        transaction: null,
        payer: `0x${"1b".repeat(20)}`,
        pay_to: `0x${"5a".repeat(20)}`,
        asset: networkOf(exampleEvmNetwork)?.stablecoins[0]?.asset ?? "",
        finished_at: null,
        explorer: null,
      }),
      ...refusals({ 404: { error: "No payment of this payer is known with this nonce.", claimed: false } }),
    },
    handler: async (request, response) => {
      response.json(await authorizedPayment(context, readQuery(authorizationQuery, request.query)));
    },
  };
}

const exampleEvmNetwork = "eip155:84532";
const exampleNetwork = "hedera:testnet";
const exampleTransaction = "0.0.1001@1772443800.000000002";
const example = {
  network: exampleNetwork,
  payer: "0.0.1003",
  payTo: "0.0.1004",
  asset: networkOf(exampleNetwork)?.stablecoins[0]?.asset ?? "",
  transaction: exampleTransaction,
  explorer: transactionUrl(exampleNetwork, networkOf(exampleNetwork)?.explorer, exampleTransaction) ?? null,
  time: "2026-03-02T09:30:00.000Z",
};

const examplePayment = {
  state: "settled",
  network: example.network,
  transaction: example.transaction,
  payer: example.payer,
  pay_to: example.payTo,
  asset: example.asset,
  amount_atomic: "10000",
  resource_url: "https://api.example.com/premium-data",
  found_again: false,
  error_reason: null,
  created_at: example.time,
  expires_at: "2026-03-02T09:32:00.000Z",
  finished_at: "2026-03-02T09:30:01.840Z",
  explorer: example.explorer,
} as const;
