import { Client, connectivityState, credentials, type ServiceError } from "@grpc/grpc-js";
import { proto } from "@hiero-ledger/proto";
import { writeField, writeVarintField } from "./wire.ts";

/** The consensus nodes of one network: one long-lived channel each. */
export class LedgerNodes {
  /** Account ids of the address book. */
  readonly ids: readonly string[];
  readonly #nodes: ReadonlyMap<string, Node>;
  #turn = 0;

  /** `addresses`: gRPC address → node account id. */
  constructor(addresses: Readonly<Record<string, string>>) {
    this.#nodes = new Map(
      Object.entries(addresses).map(([address, id]) => [id, { client: connect(address), shunUntil: 0 }]),
    );
    this.ids = [...this.#nodes.keys()];
  }

  /** Those to ask first: the ones that answered when last asked, starting with another one each time. */
  inOrder(ids: readonly string[] = this.ids): readonly string[] {
    this.#turn = (this.#turn + 1) % 1_000_000;
    const start = this.#turn % Math.max(ids.length, 1);
    const rotated = [...ids.slice(start), ...ids.slice(0, start)];
    const now = Date.now();
    const shunned = (id: string) => (this.#nodes.get(id)?.shunUntil ?? 0) > now;
    return [...rotated.filter((id) => !shunned(id)), ...rotated.filter(shunned)];
  }

  /**
   * Offers a signed transaction: the node's precheck code; "unsent" when it certainly never left; "silent" when the
   * node may have it and did not say.
   */
  async send(id: string, raw: Buffer, deadlineMs: number): Promise<number | "unsent" | "silent"> {
    const node = this.#nodes.get(id);
    if (!node || !(await ready(node, deadlineMs))) return "unsent";
    try {
      const reply = await call(node, "cryptoTransfer", raw, Math.min(deadlineMs, Date.now() + sendTimeoutMs));
      return proto.TransactionResponse.decode(reply).nodeTransactionPrecheckCode;
    } catch {
      return "silent";
    }
  }

  /** The status in the receipt; "pending" while the node works on it, "none" when it knows nothing of it. */
  async receipt(id: string, query: Buffer, deadlineMs: number): Promise<number | "pending" | "none" | "silent"> {
    const node = this.#nodes.get(id);
    if (!node || !(await ready(node, deadlineMs))) return "silent";
    try {
      const { transactionGetReceipt } = proto.Response.decode(
        await call(node, "getTransactionReceipts", query, Math.min(deadlineMs, Date.now() + receiptTimeoutMs)),
      );
      const precheck = transactionGetReceipt?.header?.nodeTransactionPrecheckCode ?? codes.OK;
      if (precheck === codes.RECEIPT_NOT_FOUND) return "none";
      if (precheck !== codes.OK) return "silent";
      const status = transactionGetReceipt?.receipt?.status ?? codes.UNKNOWN;
      return status === codes.UNKNOWN || status === codes.DUPLICATE_TRANSACTION ? "pending" : status;
    } catch {
      return "silent";
    }
  }

  close(): void {
    for (const { client } of this.#nodes.values()) client.close();
  }
}

/** The Query that asks for the receipt of a transaction (`0.0.A@s.n`). */
export function receiptQuery(transaction: string): Buffer {
  const [account = 0, seconds = 0, nanos = 0] = transaction.slice("0.0.".length).split(/[@.]/).map(Number);
  const id = [
    writeField(1, writeVarintField(1, seconds), writeVarintField(2, nanos)),
    writeField(2, writeVarintField(3, account)),
  ];
  return writeField(14, writeField(1), writeField(2, ...id));
}

interface Node {
  readonly client: Client;
  shunUntil: number;
}

function connect(address: string): Client {
  // Nodes' TLS certificates are their own; what a node says is confirmed by no one either way.
  const encrypted = address.endsWith(":50212");
  const channel = encrypted
    ? credentials.createSsl(null, null, null, { rejectUnauthorized: false, checkServerIdentity: () => undefined })
    : credentials.createInsecure();
  return new Client(address, channel, {
    // A repeated call must be our decision: only we know what it means for the outcome.
    "grpc.enable_retries": 0,
    "grpc.use_local_subchannel_pool": 1,
    // More often than every five minutes is taken for abuse by nodes' servers.
    "grpc.keepalive_time_ms": 310_000,
    "grpc.initial_reconnect_backoff_ms": 200,
    "grpc.max_reconnect_backoff_ms": 5_000,
    "grpc.max_receive_message_length": 65_536,
  });
}

/** False when there is no connection: then nothing was sent. */
async function ready(node: Node, deadlineMs: number): Promise<boolean> {
  const state = node.client.getChannel().getConnectivityState(true);
  if (state === connectivityState.READY) return true;
  if (state === connectivityState.TRANSIENT_FAILURE) return false;
  const deadline = Math.min(deadlineMs, Date.now() + connectTimeoutMs);
  return new Promise((resolve) => {
    node.client.waitForReady(deadline, (error) => {
      if (error) shun(node);
      resolve(error === undefined);
    });
  });
}

function call(node: Node, method: string, request: Buffer, deadline: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const reply = (error: ServiceError | null, response?: Buffer) => {
      if (!error && response) return resolve(response);
      shun(node);
      reject(error);
    };
    node.client.makeUnaryRequest(`/proto.CryptoService/${method}`, asIs, asIs, request, { deadline }, reply);
  });
}

function shun(node: Node): void {
  node.shunUntil = Date.now() + shunMs;
}

const asIs = (bytes: Buffer) => bytes;
const codes = proto.ResponseCodeEnum;
const connectTimeoutMs = 1_000;
/** Short, for the next node may be offered the same transaction at no risk. */
const sendTimeoutMs = 1_000;
const receiptTimeoutMs = 2_000;
const shunMs = 5_000;
