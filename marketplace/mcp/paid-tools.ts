import type { CallToolRequest, CallToolResult } from "@modelcontextprotocol/server";
import type { Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import { asApiError } from "../../shared/http.ts";
import { membersByName } from "../../shared/json.ts";
import { digestOfJson } from "../../shared/json-digest.ts";
import type { Log } from "../../shared/log.ts";
import { findLiveAgent, type LiveAgent } from "../agents/find.ts";
import { addressOfTool } from "../agents/scope.ts";
import { agentOffer, agentWork, requireModelFunds } from "../payments/agent-call.ts";
import { type Answer, answerTo } from "../payments/paid-calls/answers.ts";
import { debtInstead, type ShownPayment } from "../payments/paid-calls/debt-of-call.ts";
import { deliver } from "../payments/paid-calls/deliver.ts";
import { redeem } from "../payments/paid-calls/redeem.ts";
import type { PaidWork, Redemption } from "../payments/paid-calls/redemption.ts";
import { toolUrl } from "../payments/paid-calls/settled-elsewhere.ts";
import { type PaymentPayload, paidCallIdOf } from "../payments/payment-payload.ts";
import type { Offer } from "../payments/quotes/offer.ts";
import { withCharge } from "../payments/refused-input.ts";
import { type SignInRequest, signInExtension } from "../payments/sign-in-with-x.ts";
import { findWaitingResult } from "../payments/waiting-result.ts";
import { findPaidFor, owes, type WithdrawnNeeds } from "../payments/withdrawn-agent.ts";
import { runFree } from "../runs/free-run.ts";
import { prepareAgent } from "../runs/prepare.ts";
import { drawUnsold, isSold, type PaidSvgNeeds, paidSvgWork, svgOffer } from "../svg/paid.ts";
import { type SvgProduct, svgProducts, svgToolName } from "../svg/products.ts";
import type { ReportProgress } from "./built-in-tool.ts";
import { quoteResult, readPayment } from "./paid-quote.ts";
import { reportWaiting } from "./progress.ts";
import { contentOf, failureResult, standInOf, structured, text } from "./results.ts";
import { invalidParams, RpcError } from "./rpc-error.ts";

/**
 * Calls a tool for a payment instead of a key, as x402's transport for MCP has it: without a payment in
 * `_meta["x402/payment"]` the result tells the price, with one it is what was bought. Nothing but the three drawings is
 * listed; any agent that can be called without an account answers to its tool name, a free one at once.
 */
export async function callPaidTool(
  context: PaidToolNeeds,
  { name, arguments: input = {}, _meta = {} }: CallToolRequest["params"],
  report: ReportProgress | undefined,
  response: Response,
): Promise<CallToolResult> {
  const payload = readPayment(_meta);
  const resource = `${toolUrl}${name}`;
  const bodyDigest = await digestOfArguments(input);
  const shown = shownIn(payload, { bodyDigest, resource, from: response.req.ip ?? "" });
  const call: PaidToolCall = { name, input, payload, bodyDigest, signIn: _meta[`x402/${signInExtension}`], response };
  const goods = (await findGoods(context, name)) ?? (await findOwed(context, name, shown));
  if (!goods) return (await waitingResult(context, call)) ?? debtOfTool(context, name, shown);
  const progress = reportWaiting(report);
  try {
    const isFree = goods.agent?.version.priceCredits === 0n;
    const offer = { ...goods.offer, resource, ...(isFree && { isWithdrawn: true }) };
    const version = response.req.query.x402Version === "1" ? 1 : 2;
    const quote = (error: string, signIn?: SignInRequest) =>
      quoteResult(context, offer, { version, error, signIn, bodyDigest });
    const from = response.req.ip ?? "";
    if (goods.agent && isFree) {
      const waiting = await waitingResult(context, call);
      if (waiting) return waiting;
      if (!(await owes(context, shown, goods.agent, goods.agent.address))) {
        return await runFreeTool(context, goods.agent, input, from);
      }
    }
    if (goods.agent)
      await requireModelFunds(context, goods.agent, typeof payload === "object" ? paidCallIdOf(payload) : "none");
    const drawn = await goods.unsold?.(input, payload, from);
    if (drawn) return structured(drawn);
    if (payload === undefined || typeof payload === "string") {
      await context.anonymousLimits.admitQuote(from, offer.url);
      return await quote(payload ?? "Payment is required.");
    }
    return await buy(context, { ...call, payload }, { offer, work: await goods.prepare(input, from) }, quote);
  } catch (thrown) {
    const waiting = goods.agent && (await waitingResult(context, call).catch(() => undefined));
    if (waiting) return waiting;
    const debt = goods.agent && (await debtInstead(context, shown, goods.agent.address, thrown).catch(() => undefined));
    if (debt) return answerResult(answerTo(debt, replay));
    const error = asApiError(await withCharge(context, thrown, { payload, from: response.req.ip ?? "" }));
    if (error.code === "internal") context.log.error({ err: error.cause ?? thrown, tool: name }, error.message);
    return failureResult(error, { isPaid: typeof payload === "object" });
  } finally {
    progress.stop();
  }
}

interface PaidToolCall<Payload = PaymentPayload | string | undefined> {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly payload: Payload;
  readonly bodyDigest: Buffer;
  readonly signIn: unknown;
  readonly response: Response;
}

async function buy(
  context: PaidToolNeeds,
  { payload, bodyDigest, signIn, response }: PaidToolCall<PaymentPayload>,
  { offer, work }: { readonly offer: Offer; readonly work: PaidWork },
  quote: (error: string, signIn?: SignInRequest) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const from = response.req.ip ?? "";
  const { receivedAt } = response.locals;
  const redemption = await redeem(context, work, { payload, offer, bodyDigest, signIn, from, receivedAt });
  if (redemption.outcome !== "refused") return outcomeResult(context, redemption, work, response);
  return quote(`${redemption.reason}: ${redemption.message}`, redemption.signIn);
}

/** The result that waits for the buyer of this payment, whatever the agent is and costs now; undefined where there is none. */
async function waitingResult(context: PaidToolNeeds, call: PaidToolCall): Promise<CallToolResult | undefined> {
  const { name, input, payload, bodyDigest, response } = call;
  if (typeof payload !== "object") return undefined;
  const address = await addressOfTool(context.db, name, "any");
  const waiting = address === undefined ? undefined : await findWaitingResult(context, address, payload, input);
  if (!waiting) return undefined;
  const offer = { ...waiting.offer, resource: `${toolUrl}${name}` };
  const version = response.req.query.x402Version === "1" ? 1 : 2;
  return buy(context, { ...call, payload }, { ...waiting, offer }, (error, signIn) =>
    quoteResult(context, offer, { version, error, signIn, bodyDigest }),
  );
}

/** What selling drawings and agents by a tool's name takes. */
export type PaidToolNeeds = PaidSvgNeeds & WithdrawnNeeds & { readonly log: Log };

interface Goods {
  readonly agent?: LiveAgent;
  readonly offer: Offer;
  readonly prepare: (input: Readonly<Record<string, unknown>>, from: string) => Promise<PaidWork>;
  /** The result for nothing, where there is a reason not to sell it. */
  readonly unsold?: (
    input: object,
    payload: PaymentPayload | string | undefined,
    from: string,
  ) => Promise<object | undefined>;
}

async function findGoods(context: PaidToolNeeds, name: string): Promise<Goods | undefined> {
  const product = (Object.keys(svgProducts) as SvgProduct[]).find((one) => svgToolName(one) === name);
  if (product) {
    return {
      offer: svgOffer(context, product),
      prepare: async (input, from) => paidSvgWork(context, product, input, from),
      unsold: async (input, payload, from) =>
        (await isSold(context, product, payload)) ? undefined : drawUnsold(context, product, input, from),
    };
  }
  const address = await addressOfTool(context.db, name);
  const agent = address === undefined ? undefined : await findLiveAgent(context, address);
  return agent && !agent.version.needsAccount ? goodsOf(agent, agentOffer(context, agent)) : undefined;
}

/** An agent that its creator took off the market, for a buyer who has paid for a call of it. */
async function findOwed(
  context: PaidToolNeeds,
  name: string,
  shown: ShownPayment | undefined,
): Promise<Goods | undefined> {
  const address = shown && (await addressOfTool(context.db, name, "any"));
  if (address === undefined) return undefined;
  const gone = new ApiError("not_found", "There is no such tool.");
  const agent = await findPaidFor(context, shown, address, gone).catch((error: unknown) => {
    if (error !== gone) throw error;
    return undefined;
  });
  return agent && goodsOf(agent, { ...agentOffer(context, agent), isWithdrawn: true });
}

const goodsOf = (agent: LiveAgent, offer: Offer): Goods => ({
  agent,
  offer,
  prepare: async (input) => agentWork(agent, input),
});

/** Runs a free agent like the route over HTTP: within the limits of callers without a key, and without taking a payment. */
async function runFreeTool(
  context: PaidToolNeeds,
  agent: LiveAgent,
  input: Readonly<Record<string, unknown>>,
  from: string,
): Promise<CallToolResult> {
  await context.anonymousLimits.admitFreeCall(from, agent.id);
  const { runId, outcome } = await runFree(context, prepareAgent(agent, input), from);
  const _meta = { run_id: runId, charged: false };
  if (!outcome.success) return { isError: true, content: [text(outcome.error)], _meta };
  const { output, receipt = null } = outcome;
  return { ...contentOf(output, receipt), _meta: { ..._meta, ...standInOf(output) } };
}

function shownIn(
  payload: PaymentPayload | string | undefined,
  asked: Omit<ShownPayment, "payload">,
): ShownPayment | undefined {
  return typeof payload === "object" ? { payload, ...asked } : undefined;
}

/** What a wallet that is shown signs in place of a body's digest. */
const digestOfArguments = (input: object) => digestOfJson(input, membersByName);

/** A tool that is not there any more: a buyer who paid for it learns what is owed, every other caller that there is none. */
async function debtOfTool(
  context: PaidToolNeeds,
  name: string,
  shown: ShownPayment | undefined,
): Promise<CallToolResult> {
  const address = (await addressOfTool(context.db, name, "any")) ?? "";
  const gone = new ApiError("not_found", `There is no tool ${JSON.stringify(name.slice(0, 64))}.`);
  const debt = await debtInstead(context, shown, address, gone).catch((error: unknown) => {
    throw error === gone ? new RpcError(invalidParams, gone.message) : error;
  });
  return answerResult(answerTo(debt, replay));
}

/** The purchased result; any other outcome in the words that all transports use, with the settlement where clients of x402 look for it. */
async function outcomeResult(
  context: PaidToolNeeds,
  redemption: Exclude<Redemption, { outcome: "refused" }>,
  work: PaidWork,
  response: Response,
): Promise<CallToolResult> {
  if (redemption.outcome !== "delivered") return answerResult(answerTo(redemption, replay));
  const present = work.kind === "run" ? work.present : undefined;
  const { settlement, runId } = redemption.result;
  const _meta = { run_id: runId, [settlementKey]: settlement };
  return deliver(context, response, redemption, async ({ output, receipt }) => ({
    ...(present ? structured(await present(output)) : contentOf(output, receipt)),
    _meta: { ..._meta, ...standInOf(output) },
  }));
}

/** A 402 is told as a quote is, where clients of x402 read it. */
function answerResult({ status, body, text: words, meta, settlement }: Answer): CallToolResult {
  const _meta = { ...meta, ...(settlement && { [settlementKey]: settlement }) };
  const told = status === 402 ? structured(body) : { content: [text(words)] };
  return { isError: true, ...told, ...(meta && { _meta }) };
}

const replay = "Call again with the same payment";
const settlementKey = "x402/payment-response";
