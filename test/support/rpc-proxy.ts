import { startHttpServer } from "./http-server.ts";

/**
 * What happens to one call on its way: carried out and answered; carried out unanswered; never carried out; or kept, until
 * the proxy behaves otherwise, and carried out then.
 */
export type Fate = "pass" | "lose-answer" | "lose-call" | "hold";

/**
 * What else may happen to a JSON-RPC call: a 429 in its place, or carried out and answered with `null` or as a node
 * does that has seen the same transaction before, or another one with its nonce, that tells what a contract reverted with, or that could not run a call.
 */
type RpcFate = Fate | "refuse" | "null" | keyof typeof errors | Told;

/** Never carried out, and answered so. */
type Told = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

/** Kept like `hold`, and never carried out: answered then as a node does whose pool does not take it, at all or for so low a tip. */
const refusedLate: readonly unknown[] = ["refuse-late", "underpriced-late", "want-tip-late"];

const errors = {
  "nonce-too-low": { code: -32003, message: "nonce too low" },
  underpriced: { code: -32003, message: "replacement transaction underpriced" },
  "underpriced-late": { code: -32003, message: "replacement transaction underpriced" },
  reverted: { code: 3, message: "execution reverted: insufficient funds, nonce too low", data: "0x08c379a0" },
  "refuse-late": { code: -32000, message: "exceeds block gas limit" },
  "want-tip-late": { code: -32000, message: "transaction underpriced" },
  "over-rate-limit": { code: -32016, message: "over rate limit" },
  "timed-out": { code: -32000, message: "execution aborted (timeout = 5s)" },
  "internal-error": { code: -32603, message: "Internal error" },
};

/** A JSON-RPC proxy that stands between a daemon and its node and misbehaves as told. */
export async function startRpcProxy(upstream: string): Promise<RpcProxy> {
  let fateOf: (method: string, params: readonly unknown[]) => RpcFate = () => "pass";
  const counts = new Map<string, number>();
  const held: Array<() => void> = [];
  const behave: RpcProxy["behave"] = (rule) => {
    fateOf = rule;
    for (const go of held.splice(0)) go();
  };
  const server = await startHttpServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const parsed = JSON.parse(text);
    const calls: Array<{ id: number; method: string; params: readonly unknown[] }> = Array.isArray(parsed)
      ? parsed
      : [parsed];
    const fates = calls.map(({ method, params }) => {
      counts.set(method, (counts.get(method) ?? 0) + 1);
      return fateOf(method, params);
    });
    if (fates.includes("refuse")) return void response.writeHead(429, { "retry-after": "1" }).end("{}");
    if (fates.some((fate) => fate === "hold" || refusedLate.includes(fate)))
      await new Promise<void>((resolve) => held.push(resolve));
    const untaken = calls.filter((_, index) => refusedLate.includes(fates[index]) || typeof fates[index] === "object");
    const carried = calls.filter((call, index) => fates[index] !== "lose-call" && !untaken.includes(call));
    const answers = carried.length === 0 ? [] : await forward(upstream, carried).catch(() => undefined);
    // A connection that dies takes the answers of the whole batch with it.
    const isLost = fates.includes("lose-call") || fates.includes("lose-answer");
    if (!answers || isLost) return void request.socket.destroy();
    const told = [...answers, ...untaken].map((answer) =>
      distorted(answer, fates[calls.findIndex(({ id }) => id === answer.id)]),
    );
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(Array.isArray(parsed) ? told : told[0]));
  });
  return {
    url: server.url,
    counts,
    behave,
    held: () => held.length,
    stop: server.stop,
  };
}

export interface RpcProxy {
  readonly url: string;
  readonly counts: ReadonlyMap<string, number>;
  behave(rule: (method: string, params: readonly unknown[]) => RpcFate): void;
  /** How many requests it keeps. */
  held(): number;
  stop(): Promise<void>;
}

function distorted(answer: { id: number }, fate: RpcFate | undefined): object {
  if (typeof fate === "object") return { jsonrpc: "2.0", id: answer.id, ...fate };
  if (fate === "null") return { jsonrpc: "2.0", id: answer.id, result: null };
  const error = errors[fate as keyof typeof errors];
  return error ? { jsonrpc: "2.0", id: answer.id, error } : answer;
}

async function forward(upstream: string, calls: unknown[]): Promise<Array<{ id: number }>> {
  const response = await fetch(upstream, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(calls),
  });
  return (await response.json()) as Array<{ id: number }>;
}
