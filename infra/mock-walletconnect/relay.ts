import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { clientOf } from "./relay-auth.ts";
import { type Member, Topics } from "./topics.ts";

/**
 * A stand-in for WalletConnect's relay that speaks its protocol (JSON-RPC over a WebSocket, clients named by a token of their own
 * key) and keeps sealed messages for clients that are away, in memory. A plain HTTP request is told what it is. Binds 127.0.0.1; any
 * free port by default.
 */
export async function startMockRelay(options: RelayOptions = {}): Promise<MockRelay> {
  const topics = new Topics();
  const server = createServer((_request, response) => response.end("mock-walletconnect: a relay for tests\n"));
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 262_144 });
  server.on("upgrade", (request, socket, head) => {
    const refused = refusalOf(request);
    if (refused) return socket.end(`HTTP/1.1 401 Unauthorized\r\nContent-Length: ${refused.length}\r\n\r\n${refused}`);
    sockets.handleUpgrade(request, socket, head, (webSocket) => serve(webSocket, clientIn(request) ?? "", topics));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { pingEachMs = 20_000 } = options;
  const pings = setInterval(() => {
    for (const webSocket of sockets.clients) webSocket.ping();
  }, pingEachMs);
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        clearInterval(pings);
        for (const webSocket of sockets.clients) webSocket.terminate();
        server.close(() => resolve());
      }),
  };
}

interface RelayOptions {
  readonly port?: number;
  /** A client outside a browser drops a connection on which it hears nothing for 35 seconds. */
  readonly pingEachMs?: number;
}

export interface MockRelay {
  readonly url: string;
  stop(): Promise<void>;
}

function refusalOf(request: IncomingMessage): string | undefined {
  if (!queryOf(request).get("projectId")) return "a project id is missing";
  return clientIn(request) ? undefined : "the token does not hold";
}

const queryOf = ({ url = "/" }: IncomingMessage) => new URL(url, "ws://relay").searchParams;
const clientIn = (request: IncomingMessage) => clientOf(queryOf(request).get("auth") ?? "");

interface Question {
  readonly id: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

function serve(webSocket: WebSocket, client: string, topics: Topics): void {
  let pushed = 0;
  const unacknowledged = new Map<Question["id"], () => void>();
  const member = {
    client,
    push: (subscription: string, data: object, lost: () => void) => {
      const params = { id: subscription, data };
      const id = Date.now() * 1_000 + pushed++;
      unacknowledged.set(id, lost);
      webSocket.send(JSON.stringify({ id, jsonrpc: "2.0", method: "irn_subscription", params }));
    },
  };
  const answer = (id: Question["id"], said: object) => webSocket.send(JSON.stringify({ id, jsonrpc: "2.0", ...said }));
  webSocket.on("error", () => webSocket.terminate());
  webSocket.on("close", () => {
    topics.leave(member);
    for (const lost of unacknowledged.values()) lost();
  });
  webSocket.on("message", (bytes) => {
    const question = questionIn(String(bytes));
    if (!question) return webSocket.close(1_007, "not JSON-RPC");
    const { id, method, params = {} } = question;
    if (method === undefined) return void unacknowledged.delete(id);
    const verb = verbs[method];
    if (!verb) return answer(id, { error: { code: -32_601, message: `the stand-in has no ${method}` } });
    // A client hears its answer before what the verb brings it.
    const { result, after } = verb(topics, member, params);
    answer(id, { result });
    after?.();
  });
}

function questionIn(text: string): Question | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

type Params = Readonly<Record<string, unknown>>;
type Verb = (topics: Topics, member: Member, params: Params) => { result: unknown; after?: () => void };

const text = (value: unknown) => String(value);
const listed = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);

const verbs: Readonly<Record<string, Verb>> = {
  irn_publish: (topics, member, { topic, message, tag, ttl }) => {
    topics.publish(member, text(topic), { message: text(message), tag, ttl });
    return { result: true };
  },
  irn_subscribe: (topics, member, { topic }) => subscribed(topics, member, [text(topic)], ([id]) => id),
  irn_batchSubscribe: (topics, member, params) => subscribed(topics, member, listed(params.topics), (ids) => ids),
  irn_unsubscribe: (topics, member, { topic }) => {
    topics.unsubscribe(member, text(topic));
    return { result: true };
  },
  irn_fetchMessages: (topics, member, { topic }) => fetched(topics, member, [text(topic)]),
  irn_batchFetchMessages: (topics, member, params) => fetched(topics, member, listed(params.topics)),
  /** A page proposes a session: its proposal is published, and it hears what comes back. */
  wc_proposeSession: (topics, member, { pairingTopic, sessionProposal, ttl }) => {
    topics.publish(member, text(pairingTopic), { message: text(sessionProposal), tag: 1_100, ttl });
    return subscribed(topics, member, [text(pairingTopic)], () => true);
  },
  /** A wallet takes it: it answers in the pairing, and settles the session in a topic of its own. */
  wc_approveSession: (topics, member, { pairingTopic, sessionTopic, sessionProposalResponse, ...more }) => {
    topics.publish(member, text(pairingTopic), { message: text(sessionProposalResponse), tag: 1_101, ttl: more.ttl });
    topics.publish(member, text(sessionTopic), {
      message: text(more.sessionSettlementRequest),
      tag: 1_102,
      ttl: more.ttl,
    });
    return subscribed(topics, member, [text(sessionTopic)], () => true);
  },
};

function subscribed(topics: Topics, member: Member, asked: readonly string[], result: (ids: string[]) => unknown) {
  const ids = asked.map((topic) => topics.subscribe(member, topic));
  const after = () => {
    for (const topic of asked) topics.deliver(member, topic);
  };
  return { result: result(ids), after };
}

function fetched(topics: Topics, member: Member, asked: readonly string[]) {
  return { result: { messages: asked.flatMap((topic) => topics.take(member, topic)), hasMore: false } };
}
