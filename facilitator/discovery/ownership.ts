import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { type Announcement, announcementOfPaymentRequired } from "./announcement.ts";
import { type AcceptedRequirements, readAcceptedRequirements } from "./payment-requirements.ts";
import {
  askBounds,
  parseAnswer,
  quoteInHeader,
  type UnpaidAnswer,
  type UnpaidAsk,
  type UnpaidFetch,
} from "./unpaid-fetch.ts";
import type { Declaration } from "./validate.ts";

/**
 * Asks the resource itself, once and without paying, whom it wants to be paid. Only its own word binds a listing to a
 * wallet: a payer can pay his own wallet and name another seller's URL.
 */
export async function askResource(
  fetchUnpaid: UnpaidFetch,
  declaration: Declaration,
  signal: AbortSignal,
): Promise<PaymentRequired | Problem> {
  const ask = { ...unpaidRequest(declaration), ...askBounds, signal };
  const answer = await fetchUnpaid(declaration.probeUrl, ask).catch((error: Error) => error);
  if (answer instanceof Error) return transient(`the resource could not be asked: ${answer.message}`);
  const answers = paymentRequiredIn(answer, declaration.type);
  if (answers.length === 0) return permanent(`the resource answered ${answer.status} instead of a quote`);
  return {
    accepts: answers.flatMap(acceptsOf),
    announcement: answers.map(announcementOfPaymentRequired).find((announcement) => announcement !== undefined),
  };
}

/** Why an offer is not listed; what is `transient` may be gone at the next attempt. */
export interface Problem {
  readonly problem: string;
  readonly transient: boolean;
}

export function transient(problem: string): Problem {
  return { problem, transient: true };
}

export function permanent(problem: string): Problem {
  return { problem, transient: false };
}

/** What a resource says of itself. */
export interface PaymentRequired {
  readonly accepts: readonly AcceptedRequirements[];
  readonly announcement: Announcement | undefined;
}

/** The resource's own terms for payments of this asset into this wallet, at this amount if it has several. */
export function requirementsFor(
  required: PaymentRequired,
  paid: AcceptedRequirements,
): AcceptedRequirements | undefined {
  const own = required.accepts.filter(
    ({ scheme, network, asset, payTo }) =>
      scheme === paid.scheme && network === paid.network && same(asset, paid.asset) && same(payTo, paid.payTo),
  );
  return own.find(({ amount }) => amount === paid.amount) ?? own[0];
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function unpaidRequest({ type, input }: Declaration): Pick<UnpaidAsk, "method" | "headers" | "body"> {
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  if (type === "mcp") {
    const params = { name: input.toolName, arguments: input.example ?? {} };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    return { method: "POST", headers: json, body };
  }
  if (input.method === "POST" || input.method === "PUT" || input.method === "PATCH") {
    return { method: input.method, headers: json, body: "{}" };
  }
  return { method: input.method === "DELETE" ? "DELETE" : "GET" };
}

/** v2 quotes in a header, v1 in the body, an MCP tool in its result. */
export function paymentRequiredIn(answer: UnpaidAnswer, type: "http" | "mcp"): readonly JsonObject[] {
  const { status, body } = answer;
  if (status === 402) {
    return [quoteInHeader(answer)?.quote, parseAnswer(body.toString())].filter((quote) => quote !== undefined);
  }
  if (status !== 200 || type !== "mcp") return [];
  const result = messagesIn(body.toString()).find((message) => isJsonObject(message.result))?.result as JsonObject;
  return isJsonObject(result?.structuredContent) ? [result.structuredContent] : [];
}

/** A tool's answer as JSON, or the first events of a stream of them: some servers send one without data, or others, before the result. */
function messagesIn(text: string): readonly JsonObject[] {
  const events = text.replaceAll(/\r\n?/g, "\n").split("\n\n");
  const data = events.map(dataOf).filter((one) => one !== "");
  return (data.length > 0 ? data.slice(0, eventsMax) : [text]).map(parseAnswer).filter((one) => one !== undefined);
}

const eventsMax = 20;

function dataOf(event: string): string {
  return event
    .split("\n")
    .flatMap((line) => (line.startsWith("data:") ? line.slice(line[5] === " " ? 6 : 5) : []))
    .join("\n");
}

function acceptsOf({ accepts }: JsonObject): readonly AcceptedRequirements[] {
  return Array.isArray(accepts) ? accepts.slice(0, 50).flatMap((entry) => readAcceptedRequirements(entry) ?? []) : [];
}
