import { type ChannelInterface, Client, connectivityState, credentials, type ServiceError } from "@grpc/grpc-js";
import { proto } from "@hiero-ledger/proto";
import { inSpan } from "../tracing.ts";

/**
 * The consensus nodes of one Hedera network, one long-lived channel each, spoken to without the SDK: a repeated call must
 * be the caller's decision, for only the caller knows what it means.
 */
export class HederaNodes {
  readonly #nodes = new Map<string, Node>();
  readonly #timeouts: Timeouts;
  #ids: readonly string[] = [];
  #turn = 0;

  /** `addresses`: gRPC address → node account id. */
  constructor(addresses: Readonly<Record<string, string>>, timeouts: Timeouts) {
    this.#timeouts = timeouts;
    for (const [id, target] of invert(addresses)) this.#nodes.set(id, connect(target));
    this.#ids = [...this.#nodes.keys()];
  }

  /** Account ids of the nodes. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The order in which to ask nodes: first those that answered when last asked, starting with another one each time. */
  inOrder(ids: readonly string[] = this.ids): readonly string[] {
    this.#turn = (this.#turn + 1) % 1_000_000;
    const start = this.#turn % Math.max(ids.length, 1);
    const rotated = [...ids.slice(start), ...ids.slice(0, start)];
    const now = Date.now();
    const shunned = (id: string) => (this.#nodes.get(id)?.shunUntil ?? 0) > now;
    return [...rotated.filter((id) => !shunned(id)), ...rotated.filter(shunned)];
  }

  /**
   * Offers a signed Transaction: the node's precheck code; "unsent" when it certainly never left; "silent" when the
   * node may have it and did not say. `deadlineMs`: no later than this, in milliseconds since 1970.
   */
  async send(
    id: string,
    method: Method,
    transaction: Uint8Array,
    deadlineMs = Number.POSITIVE_INFINITY,
  ): Promise<number | "unsent" | "silent"> {
    const node = this.#nodes.get(id);
    if (!node || !(await this.#isReady(node, deadlineMs))) return "unsent";
    try {
      const deadline = Math.min(deadlineMs, Date.now() + this.#timeouts.sendMs);
      const reply = await inSpan("hedera transaction", atNode(id), () =>
        call(node, methods[method], transaction, deadline),
      );
      return proto.TransactionResponse.decode(reply).nodeTransactionPrecheckCode;
    } catch {
      return "silent";
    }
  }

  /** The receipt of `0.0.A@s.n`; "pending" while the node works on it, "none" when it knows nothing of it. */
  async receipt(
    id: string,
    transactionId: string,
    deadlineMs = Number.POSITIVE_INFINITY,
  ): Promise<proto.ITransactionReceipt | "pending" | "none" | "silent"> {
    const node = this.#nodes.get(id);
    if (!node || !(await this.#isReady(node, deadlineMs))) return "silent";
    try {
      const deadline = Math.min(deadlineMs, Date.now() + this.#timeouts.receiptMs);
      const reply = await inSpan("hedera receipt", atNode(id), () =>
        call(node, receiptPath, receiptQuery(transactionId), deadline),
      );
      const { transactionGetReceipt: answer } = proto.Response.decode(reply);
      const precheck = answer?.header?.nodeTransactionPrecheckCode ?? codes.OK;
      if (precheck === codes.RECEIPT_NOT_FOUND) return "none";
      if (precheck !== codes.OK || !answer?.receipt) return "silent";
      const status = answer.receipt.status ?? codes.UNKNOWN;
      return status === codes.UNKNOWN || status === codes.DUPLICATE_TRANSACTION ? "pending" : answer.receipt;
    } catch {
      return "silent";
    }
  }

  /**
   * Takes over an address book, node account id → gRPC target: new nodes join, and a node that did not answer when last
   * asked moves to its address in the book, or leaves when it is not in it. What works, or was never tried, stays.
   */
  learn(book: ReadonlyMap<string, string>): void {
    for (const [id, target] of book) {
      const node = this.#nodes.get(id);
      if (node && (node.target === target || !isFailing(node))) continue;
      node?.client.close();
      this.#nodes.set(id, connect(target));
    }
    for (const [id, node] of this.#nodes) {
      if (book.has(id) || !isFailing(node)) continue;
      node.client.close();
      this.#nodes.delete(id);
    }
    this.#ids = [...this.#nodes.keys()];
  }

  /** Whether no node answered when last asked. */
  get allFailing(): boolean {
    return [...this.#nodes.values()].every(isFailing);
  }

  close(): void {
    for (const { client } of this.#nodes.values()) client.close();
  }

  /** False when there is no connection: then nothing was sent. A node that refuses to be connected is not waited for. */
  async #isReady(node: Node, deadlineMs: number): Promise<boolean> {
    const channel = node.client.getChannel();
    const deadline = Math.min(deadlineMs, Date.now() + this.#timeouts.connectMs);
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return true;
      const isAway = state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN;
      if (isAway || !(await hasChanged(channel, state, deadline))) {
        shun(node);
        return false;
      }
    }
  }
}

/** Whether the connection's state is another one before the deadline. */
function hasChanged(channel: ChannelInterface, state: connectivityState, deadline: number): Promise<boolean> {
  return new Promise((resolve) => channel.watchConnectivityState(state, deadline, (error) => resolve(!error)));
}

export type Method = keyof typeof methods;

/** How long one attempt may take. */
interface Timeouts {
  readonly connectMs: number;
  readonly sendMs: number;
  readonly receiptMs: number;
}

export function statusName(code: number): string {
  return codes[code] ?? `status ${code}`;
}

const methods = {
  transfer: "/proto.CryptoService/cryptoTransfer",
  mint: "/proto.TokenService/mintToken",
  message: "/proto.ConsensusService/submitMessage",
} as const;
const receiptPath = "/proto.CryptoService/getTransactionReceipts";
const codes = proto.ResponseCodeEnum;
const shunMs = 5_000;

interface Node {
  readonly target: string;
  readonly client: Client;
  shunUntil: number;
  /** The node did not answer when last asked. */
  failing: boolean;
}

function invert(addresses: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(addresses).map(([address, id]) => [id, address]));
}

function receiptQuery(transactionId: string): Uint8Array {
  const [shard, realm, num, seconds, nanos] = transactionId.split(/[@.]/).map(Number);
  const accountID = { shardNum: shard, realmNum: realm, accountNum: num };
  const transactionID = { accountID, transactionValidStart: { seconds, nanos } };
  return proto.Query.encode({ transactionGetReceipt: { header: {}, transactionID } } as never).finish();
}

function connect(target: string): Node {
  // Nodes' TLS certificates are their own; no certificate authority confirms what a node says, either way.
  const encrypted = target.endsWith(":50212");
  const channel = encrypted
    ? credentials.createSsl(null, null, null, { rejectUnauthorized: false, checkServerIdentity: () => undefined })
    : credentials.createInsecure();
  const client = new Client(target, channel, {
    "grpc.enable_retries": 0,
    "grpc.use_local_subchannel_pool": 1,
    // More often than every five minutes is taken for abuse by nodes' servers.
    "grpc.keepalive_time_ms": 310_000,
    "grpc.initial_reconnect_backoff_ms": 200,
    "grpc.max_reconnect_backoff_ms": 5_000,
    "grpc.max_receive_message_length": 65_536,
  });
  return { target, client, shunUntil: 0, failing: false };
}

function call(node: Node, path: string, request: Uint8Array, deadline: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const reply = (error: ServiceError | null, response?: Buffer) => {
      if (error || !response) {
        shun(node);
        return reject(error);
      }
      node.failing = false;
      resolve(response);
    };
    node.client.makeUnaryRequest(path, asIs, asIs, Buffer.from(request), { deadline }, reply);
  });
}

function shun(node: Node): void {
  node.shunUntil = Date.now() + shunMs;
  node.failing = true;
}

function isFailing({ failing, client }: Node): boolean {
  return failing || client.getChannel().getConnectivityState(false) === connectivityState.TRANSIENT_FAILURE;
}

const asIs = (bytes: Buffer) => bytes;
const atNode = (id: string) => ({ "hedera.node": id });
