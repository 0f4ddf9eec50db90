import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { ChainContext } from "../context.ts";
import { type HttpServer, listenOnLoopback } from "../loopback.ts";
import {
  getAccount,
  getAccounts,
  getAccountTokens,
  getBalances,
  getHbarAllowances,
  getTokenAllowances,
} from "./accounts.ts";
import { MirrorError, notFound, toJson } from "./json.ts";
import { getBlocks, getExchangeRate, getNodes } from "./network.ts";
import { getNft, getNfts, getToken, getTokenBalances } from "./tokens.ts";
import { getMessage, getMessages, getTopic } from "./topics.ts";
import { getTransaction, getTransactions } from "./transactions.ts";
import { MirrorView } from "./view.ts";

/** The mirror node's REST API, as far as a payer and a payee read it. Shapes: hiero-mirror-node openapi.yml. */
export function startMirror(chain: ChainContext, port: number): Promise<HttpServer> {
  const view = new MirrorView(chain);
  const server = createServer((request, response) => answer(view, request, response));
  return listenOnLoopback(server, port);
}

const answer = (view: MirrorView, request: IncomingMessage, response: ServerResponse): void => {
  try {
    if (view.chain.faults.take("mirrorUnavailable")) throw new MirrorError(503, "Service unavailable");
    if (request.method !== "GET") throw new MirrorError(404, "Not found");
    const url = new URL(request.url ?? "/", "http://mirror");
    send(response, 200, route(view, url));
  } catch (error) {
    const { status, message } = error instanceof MirrorError ? error : new MirrorError(500, String(error));
    send(response, status, { _status: { messages: [{ message }] } });
  }
};

const route = (view: MirrorView, url: URL): object => {
  for (const [pattern, get] of routes) {
    const match = pattern.exec(url.pathname);
    if (match) return get(view, match.slice(1), url.searchParams);
  }
  return notFound();
};

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "access-control-allow-origin": "*" });
  response.end(toJson(body));
};

const path = (pattern: string): RegExp => new RegExp(`^/api/v1/${pattern.replaceAll("*", "([^/]+)")}/?$`);

const routes: [RegExp, Route][] = [
  [path("accounts"), getAccounts],
  [path("accounts/*"), getAccount],
  [path("accounts/*/tokens"), getAccountTokens],
  [path("accounts/*/allowances/tokens"), getTokenAllowances],
  [path("accounts/*/allowances/crypto"), getHbarAllowances],
  [path("balances"), getBalances],
  [path("tokens/*"), getToken],
  [path("tokens/*/balances"), getTokenBalances],
  [path("tokens/*/nfts"), getNfts],
  [path("tokens/*/nfts/*"), getNft],
  [path("transactions"), getTransactions],
  [path("transactions/*"), getTransaction],
  [path("topics/*"), getTopic],
  [path("topics/*/messages"), getMessages],
  [path("topics/*/messages/*"), getMessage],
  [path("blocks"), getBlocks],
  [path("network/exchangerate"), getExchangeRate],
  [path("network/nodes"), getNodes],
];

/** Path parts and query in, body out; anything but 200 is a MirrorError. */
type Route = (view: MirrorView, parts: string[], query: URLSearchParams) => object;
