import { hash } from "node:crypto";
import { type CallToolRequest, type CallToolResult, ErrorCode, type Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import { asApiError } from "../../shared/http.ts";
import type { JsonObject } from "../../shared/x402.ts";
import { findLiveAgent, type LiveAgent } from "../agents/find.ts";
import { addressOfTool } from "../agents/scope.ts";
import type { Context } from "../context.ts";
import { adviceFor } from "../payments/advice.ts";
import { agentOffer, agentWork, requireModelFunds } from "../payments/agent-call.ts";
import { handOut } from "../payments/hand-out.ts";
import type { Offer, PaidWork } from "../payments/offer.ts";
import { type Owed, owedInstead, owedText } from "../payments/owed.ts";
import { type Proof, proofOf } from "../payments/proof.ts";
import { acceptsOf } from "../payments/quote.ts";
import { redeem } from "../payments/redeem.ts";
import type { Redemption } from "../payments/redemption.ts";
import { type SignInTerms, signInChallenge, signInExtension } from "../payments/sign-in-with-x.ts";
import { quotedTerms } from "../payments/terms.ts";
import { prepareAgent } from "../runs/prepare.ts";
import { drawUnsold, isSold, paidSvgWork, svgOffer } from "../svg/paid.ts";
import { type SvgProduct, svgProducts } from "../svg/products.ts";
import type { Extra } from "./call-tool.ts";
import { reportProgress } from "./progress.ts";
import { contentOf, failureResult, structured, text } from "./results.ts";
import { RpcError } from "./rpc-error.ts";

/**
 * Calls a tool for a payment instead of a key, as x402's transport for MCP has it: without a proof in
 * `_meta["x402/payment"]` the result tells the price, with one it is what was bought. Nothing but the three drawings is
 * listed; any agent that can be paid per call answers to its tool name.
 */
export async function callPaidTool(
  context: Context,
  { name, arguments: input = {}, _meta = {} }: CallToolRequest["params"],
  extra: Extra,
  response: Response,
): Promise<CallToolResult> {
  const goods = await findGoods(context, name);
  if (!goods) return owedTool(context, name, readPayment(_meta[paymentKey]));
  const progress = reportProgress(extra);
  try {
    const { offer } = goods;
    const quote = (error: string, signIn?: SignInTerms) => quoteResult(context, name, offer, error, signIn);
    const proof = readPayment(_meta[paymentKey]);
    const from = response.req.ip ?? "";
    if (goods.agent) await requireModelFunds(context, goods.agent, proof);
    const drawn = await goods.unsold?.(input, proof, from);
    if (drawn) return structured(drawn);
    if (proof === undefined || typeof proof === "string") {
      await context.anonymousLimits.admitQuote(from, offer.url);
      return await quote(proof ?? "Payment is required.");
    }
    const work = await goods.prepare(input, from);
    const { receivedAt } = response.locals;
    const signIn = _meta[`x402/${signInExtension}`];
    const presented = { proof, offer, bodyDigest: digestOfArguments(input), signIn, from, receivedAt };
    const redemption = await redeem(context, work, presented);
    if (redemption.outcome === "refused") {
      return await quote(`${redemption.reason}: ${redemption.message}`, redemption.signIn);
    }
    return await bought(context, redemption, work, response);
  } catch (thrown) {
    const error = asApiError(thrown);
    if (error.status === 500) context.log.error({ err: error.cause ?? thrown, tool: name }, error.message);
    return failureResult(error);
  } finally {
    progress.stop();
  }
}

/** The three drawings as tools. */
export function paidTools(context: Context): Tool[] {
  return (Object.keys(svgProducts) as SvgProduct[]).map((product) => {
    const { description, input } = svgOffer(context, product);
    const { price } = svgProducts[product];
    const { $schema: _, ...inputSchema } = input.schema as { $schema?: string };
    return {
      name: svgToolName(product),
      title: description,
      description: `${description}. Costs US$${(Number(price) / 100).toFixed(2)}, paid over x402 with the call.`,
      inputSchema: inputSchema as Tool["inputSchema"],
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    };
  });
}

interface Goods {
  readonly agent?: LiveAgent;
  readonly offer: Offer;
  readonly prepare: (input: Readonly<Record<string, unknown>>, from: string) => Promise<PaidWork>;
  /** The result for nothing, where there is a reason not to sell it. */
  readonly unsold?: (input: object, proof: Proof | string | undefined, from: string) => Promise<object | undefined>;
}

async function findGoods(context: Context, name: string): Promise<Goods | undefined> {
  const product = (Object.keys(svgProducts) as SvgProduct[]).find((one) => svgToolName(one) === name);
  if (product) {
    return {
      offer: svgOffer(context, product),
      prepare: async (input, from) => paidSvgWork(context, product, input, from),
      unsold: async (input, proof, from) =>
        (await isSold(context, product, proof)) ? undefined : drawUnsold(context, product, input, from),
    };
  }
  const address = await addressOfTool(context.db, name);
  const agent = address === undefined ? undefined : await findLiveAgent(context, address);
  if (!agent || agent.version.priceCredits === 0n || agent.version.needsAccount) return undefined;
  return {
    agent,
    offer: agentOffer(context, agent),
    prepare: async (input) => agentWork(context, prepareAgent(agent, input), input),
  };
}

const svgToolName = (product: SvgProduct) => product.replaceAll("-", "_");

const paymentKey = "x402/payment";

function readPayment(payment: unknown) {
  if (payment === undefined) return undefined;
  const isObject = typeof payment === "object" && payment !== null && !Array.isArray(payment);
  return isObject ? proofOf(payment as JsonObject, `_meta["${paymentKey}"]`) : `_meta["${paymentKey}"] is no object.`;
}

/** The price as a client of x402 reads it, in both places where it may look. */
async function quoteResult(
  context: Context,
  name: string,
  offer: Offer,
  error: string,
  signIn: SignInTerms | undefined,
): Promise<CallToolResult> {
  const { description } = offer;
  const resource = { url: `mcp://tool/${name}`, description, mimeType: "application/json" };
  const accepts = acceptsOf(context.quoteIds, offer, await quotedTerms(context, offer), signIn);
  const extensions = signIn && { extensions: { [signInExtension]: signInChallenge(signIn) } };
  return { isError: true, ...structured({ x402Version: 2, error, resource, accepts, ...extensions }) };
}

/**
 * What a wallet that is shown signs in place of a body's digest: the SHA-256 of the arguments in JSON without spaces, the
 * members of every object in the order of their names' UTF-16 code units (RFC 8785).
 */
function digestOfArguments(input: object): Buffer {
  return hash("sha256", JSON.stringify(input, inOrder), "buffer");
}

function inOrder(_name: string, value: unknown): unknown {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A tool that is not there any more: who paid for it learns what is owed, everybody else that there is none. */
async function owedTool(context: Context, name: string, payment: Proof | string | undefined): Promise<CallToolResult> {
  const address = (await addressOfTool(context.db, name, "any")) ?? "";
  const gone = new ApiError("not_found", `There is no tool ${JSON.stringify(name.slice(0, 64))}.`);
  const owed = await owedInstead(context, payment, address, gone).catch((error: unknown) => {
    throw error === gone ? new RpcError(ErrorCode.InvalidParams, gone.message) : error;
  });
  return owedResult(owed);
}

function owedResult({ debt, settlement }: Owed): CallToolResult {
  const _meta = { charged: true, debt, "x402/payment-response": settlement };
  return { isError: true, content: [text(owedText)], _meta };
}

async function bought(
  context: Context,
  redemption: Exclude<Redemption, { outcome: "refused" }>,
  { present }: PaidWork,
  response: Response,
): Promise<CallToolResult> {
  switch (redemption.outcome) {
    case "delivered": {
      const content = await handOut(context, response, redemption, async ({ output, receipt }) =>
        present ? structured(await present(output)) : contentOf(output, receipt),
      );
      const { settlement, runId } = redemption.result;
      return { ...content, _meta: { run_id: runId, "x402/payment-response": settlement } };
    }
    case "failed": {
      const { error, runId, settlement, remedy, refusal } = redemption;
      const advice = settlement ? adviceFor(remedy, "Call again with the same payment") : "Nothing was charged.";
      const _meta = {
        run_id: runId,
        charged: settlement !== undefined,
        ...(refusal?.retryAfterSeconds !== undefined && { retry_after_seconds: refusal.retryAfterSeconds }),
        ...(settlement && { "x402/payment-response": settlement }),
      };
      return { isError: true, content: [text(`${error} ${advice}`)], _meta };
    }
    case "owed":
      return owedResult(redemption);
    case "unknown":
      return { isError: true, content: [text(redemption.message)] };
  }
}
