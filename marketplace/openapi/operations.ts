import { z } from "zod";
import { listQuery } from "../agents/list.ts";
import { rewardsQuery } from "../connectors/x/routes.ts";
import { transferBody } from "../credits/routes.ts";
import { statementQuery } from "../credits/statement.ts";
import { contentTypes } from "../files/files.ts";
import { filesQuery } from "../files/routes.ts";
import { purchaseBody } from "../payments/purchase.ts";
import { runsQuery } from "../runs/history.ts";
import { runBody } from "../runs/routes.ts";
import { generateRequest, paidRequests, vectorizeRequest } from "../svg/request.ts";
import { accountOperations } from "./account-operations.ts";
import { owedShape } from "./account-shapes.ts";
import {
  agentDetailShape,
  agentPageShape,
  balanceShape,
  errorShape,
  filesShape,
  fileVisibilityShape,
  healthShape,
  paidFailureShape,
  paidResultShape,
  quoteShape,
  rewardsShape,
  rpcErrorShape,
  rpcMessageShape,
  runDetailShape,
  runPageShape,
  runResultShape,
  statementShape,
  svgShape,
  transferShape,
  unpayableShape,
} from "./shapes.ts";

/** One route as the document describes it. A test holds this table against the routes that are served. */
export interface Operation {
  readonly summary: string;
  /** An API key is required. */
  readonly key?: boolean;
  /** A session cookie is required. */
  readonly session?: boolean;
  readonly body?: z.ZodType;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: z.ZodObject;
  /** Headers a request may carry, with what they mean. */
  readonly headers?: Readonly<Record<string, string>>;
  /** By status: a shape is JSON, texts are other media types. What any keyed or posted request may meet is added. */
  readonly answers: Readonly<Record<number, z.ZodType | string | readonly string[]>>;
  /** Headers of the 200, or of the status named. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Answers carry an ETag, and 304 to who has it already. */
  readonly tagged?: boolean;
}

const agentPath = { handle: "The creator's handle, in any case.", slug: "The agent's name part, in any case." };

const idempotencyHeader = {
  "Idempotency-Key":
    "Your own name for the request, 1 to 255 characters: it is made and charged once, however often sent.",
};
const replayedHeader = {
  "Idempotent-Replayed": "`true` when the answer is that of an earlier request of the same name.",
};
const proofHeaders = {
  "PAYMENT-SIGNATURE": "Proof of payment, x402 version 2. Without a proof the answer is the quote.",
  "X-PAYMENT": "Proof of payment, x402 version 1.",
  "SIGN-IN-WITH-X": "Shows the wallet that paid, beside a settled payment; base64 of JSON, as the 402 asks for it.",
};
const settlementHeaders = {
  "PAYMENT-RESPONSE": "The settlement, base64 of JSON.",
  "X-PAYMENT-RESPONSE": "The same.",
};

const mcpHeaders = {
  Accept: "Must name both application/json and text/event-stream.",
  "MCP-Protocol-Version": "As agreed on by initialize.",
};

const svgAnswers = {
  200: svgShape,
  402: unpayableShape,
  409: errorShape,
  422: errorShape,
  429: errorShape,
  502: errorShape,
  503: errorShape,
};

function paidSvg(summary: string, body: z.ZodType): Operation {
  const answers = {
    200: svgShape,
    402: quoteShape,
    422: errorShape,
    429: errorShape,
    500: paidFailureShape,
    502: errorShape,
    503: errorShape,
  };
  return { summary, body, headers: proofHeaders, answers, answerHeaders: settlementHeaders };
}

const fileName = { name: "The last part of the file's address." };

export const operations: Readonly<Record<string, Operation>> = {
  "POST /api/v1/run": {
    summary: "Run one agent and pay with credits. Waits for the result; allow 180 seconds.",
    key: true,
    body: runBody,
    headers: {
      "Idempotency-Key":
        "Your own name for the request, 1 to 255 characters: however often it is sent, it runs and charges once, and " +
        "for 30 days answers the same. Without it, a retry is a second run and a second charge.",
    },
    answers: { 200: runResultShape, 402: unpayableShape, 404: errorShape, 409: errorShape, 422: errorShape },
    answerHeaders: replayedHeader,
  },
  "GET /api/v1/runs": {
    summary: "The account's runs of the last 30 days, newest first.",
    key: true,
    query: runsQuery,
    answers: { 200: runPageShape },
  },
  "GET /api/v1/runs/{run_id}": {
    summary: "One of the account's runs and what it answered, for instance after a timeout.",
    key: true,
    path: { run_id: "As a run's answer names it." },
    answers: { 200: runDetailShape, 404: errorShape },
  },
  "GET /api/v1/agents": {
    summary: "List and search live agents.",
    key: true,
    query: listQuery,
    answers: { 200: agentPageShape },
    tagged: true,
  },
  "GET /api/v1/agents/{handle}/{slug}": {
    summary: "One agent's input contract, price and addresses.",
    key: true,
    path: agentPath,
    answers: { 200: agentDetailShape, 404: errorShape },
    tagged: true,
  },
  "GET /api/v1/balance": { summary: "The account's credits.", key: true, answers: { 200: balanceShape } },
  "GET /api/v1/ledger": {
    summary: "The account's postings, newest first: every movement of its credits.",
    key: true,
    query: statementQuery,
    answers: { 200: statementShape },
  },
  "POST /api/v1/credits/transfer": {
    summary: "Make earned credits spendable.",
    key: true,
    body: transferBody,
    answers: { 200: transferShape, 422: errorShape },
  },
  "POST /api/v1/credits/purchase": {
    summary: "Buy credits with a stablecoin over x402, for the account of the key.",
    key: true,
    body: purchaseBody,
    headers: proofHeaders,
    answers: { 200: paidResultShape, 402: quoteShape, 429: errorShape, 500: paidFailureShape, 503: errorShape },
    answerHeaders: settlementHeaders,
  },
  "POST /api/v1/svg/vectorize": {
    summary: "An image as SVG, for 1 credit.",
    key: true,
    body: vectorizeRequest,
    headers: idempotencyHeader,
    answers: svgAnswers,
    answerHeaders: replayedHeader,
  },
  "POST /api/v1/svg/generate": {
    summary: "A prompt as SVG, for 3 credits; in HD for 8.",
    key: true,
    body: generateRequest,
    headers: idempotencyHeader,
    answers: svgAnswers,
    answerHeaders: replayedHeader,
  },
  "POST /api/x402/svg-vectorize": paidSvg(
    "An image as SVG for $0.01 over x402; no account, no key.",
    paidRequests["svg-vectorize"],
  ),
  "POST /api/x402/svg-generate": paidSvg(
    "A prompt as SVG for $0.03 over x402; no account, no key.",
    paidRequests["svg-generate"],
  ),
  "POST /api/x402/svg-generate-hd": paidSvg("The same in HD for $0.08 over x402.", paidRequests["svg-generate-hd"]),
  "POST /api/agent/{handle}/{slug}": {
    summary: "Run one agent and pay this call with a stablecoin over x402; no account, no key.",
    path: agentPath,
    body: z.record(z.string(), z.unknown()).describe("The agent's input fields, not wrapped."),
    headers: proofHeaders,
    answers: {
      200: paidResultShape,
      402: quoteShape,
      404: errorShape,
      409: errorShape,
      410: owedShape,
      422: errorShape,
      429: errorShape,
      500: paidFailureShape,
      503: errorShape,
    },
    answerHeaders: settlementHeaders,
  },
  "POST /api/mcp": {
    summary:
      "The tool server: MCP over Streamable HTTP, protocol 2025-06-18. The agents in the key's scope are its tools, " +
      "beside svg_generate and svg_vectorize.",
    key: true,
    body: rpcMessageShape,
    headers: mcpHeaders,
    answers: {
      200: "text/event-stream",
      202: [],
      ...Object.fromEntries(
        [400, 401, 403, 406, 408, 413, 415, 429, 500, 503].map((status) => [status, rpcErrorShape]),
      ),
    },
  },
  "GET /api/v1/rewards": {
    summary: "What the account's agents have paid for posts on X, and to whom, newest first.",
    key: true,
    query: rewardsQuery,
    answers: { 200: rewardsShape },
  },
  "POST /api/x402/mcp": {
    summary:
      "The tool server without a key: a call answers its price, and with a payment over x402 in " +
      '`_meta["x402/payment"]` the result. Any agent that is paid per call answers to its tool name.',
    body: rpcMessageShape,
    headers: mcpHeaders,
    answers: {
      200: "text/event-stream",
      202: [],
      ...Object.fromEntries([400, 403, 406, 408, 413, 415, 500, 503].map((status) => [status, rpcErrorShape])),
    },
  },
  "GET /files/{name}": {
    summary: "A file that a run made.",
    path: { name: "As a run's answer links it." },
    answers: {
      200: Object.values(contentTypes),
      404: errorShape,
      410: errorShape,
    },
    tagged: true,
  },
  "GET /api/v1/files": {
    summary: "What the account's agents have made, newest first.",
    key: true,
    query: filesQuery,
    answers: { 200: filesShape },
  },
  "POST /api/v1/files/{name}/hide": {
    summary: "Take a file of the account's agents down: its address then answers 410.",
    key: true,
    path: fileName,
    answers: { 200: fileVisibilityShape, 404: errorShape },
  },
  "POST /api/v1/files/{name}/show": {
    summary: "Show a hidden file again.",
    key: true,
    path: fileName,
    answers: { 200: fileVisibilityShape, 404: errorShape },
  },
  ...accountOperations,
  "GET /api/v1/openapi.json": {
    summary: "This document.",
    answers: { 200: z.looseObject({ openapi: z.string() }) },
    tagged: true,
  },
  "GET /llms.txt": { summary: "What is here, for readers that are language models.", answers: { 200: "text/plain" } },
  "GET /health": { summary: "Whether the service can work.", answers: { 200: healthShape, 503: healthShape } },
};
