import { Client, connectivityState, credentials } from "@grpc/grpc-js";
import { proto } from "@hiero-ledger/proto";

/** Consensus nodes, spoken to without the SDK: a repeated call must be our decision, for only we know what it means. */
export class Nodes {
  readonly ids: readonly string[];
  readonly #clients: ReadonlyMap<string, Client>;

  /** `addresses`: gRPC address → node account id. */
  constructor(addresses: Readonly<Record<string, string>>) {
    this.#clients = new Map(Object.entries(addresses).map(([address, id]) => [id, connect(address)]));
    this.ids = [...this.#clients.keys()];
  }

  /**
   * Offers a signed Transaction to a node: its precheck code; "unsent" when it certainly never left; "silent" when the
   * node may have it and did not say.
   */
  async send(id: string, method: Method, transaction: Uint8Array): Promise<number | "unsent" | "silent"> {
    const client = this.#clients.get(id);
    if (!client || !(await isReady(client))) return "unsent";
    try {
      const reply = await call(client, methods[method], transaction, sendTimeoutMs);
      return proto.TransactionResponse.decode(reply).nodeTransactionPrecheckCode;
    } catch {
      return "silent";
    }
  }

  /** The receipt; "pending" while the node works on it, "none" when it knows nothing of it. */
  async receipt(id: string, transactionId: string): Promise<proto.ITransactionReceipt | "pending" | "none" | "silent"> {
    const client = this.#clients.get(id);
    if (!client || !(await isReady(client))) return "silent";
    try {
      const query = receiptQuery(transactionId);
      const reply = await call(client, "/proto.CryptoService/getTransactionReceipts", query, receiptTimeoutMs);
      const { transactionGetReceipt: answer } = proto.Response.decode(reply);
      const precheck = answer?.header?.nodeTransactionPrecheckCode ?? codes.OK;
      if (precheck === codes.RECEIPT_NOT_FOUND) return "none";
      const status = answer?.receipt?.status ?? codes.UNKNOWN;
      if (precheck !== codes.OK || !answer?.receipt) return "silent";
      return status === codes.UNKNOWN || status === codes.DUPLICATE_TRANSACTION ? "pending" : answer.receipt;
    } catch {
      return "silent";
    }
  }

  stop(): void {
    for (const client of this.#clients.values()) client.close();
  }
}

export function statusName(code: number): string {
  return codes[code] ?? `status ${code}`;
}

export type Method = keyof typeof methods;

const methods = {
  transfer: "/proto.CryptoService/cryptoTransfer",
  mint: "/proto.TokenService/mintToken",
  message: "/proto.ConsensusService/submitMessage",
} as const;

const codes = proto.ResponseCodeEnum;
const connectTimeoutMs = 1_500;
const sendTimeoutMs = 3_000;
const receiptTimeoutMs = 3_000;

function receiptQuery(transactionId: string): Uint8Array {
  const [shard, realm, num, seconds, nanos] = transactionId.split(/[@.]/);
  const accountID = { shardNum: Number(shard), realmNum: Number(realm), accountNum: Number(num) };
  const transactionID = { accountID, transactionValidStart: { seconds: Number(seconds), nanos: Number(nanos) } };
  return proto.Query.encode({ transactionGetReceipt: { header: {}, transactionID } } as never).finish();
}

function connect(address: string): Client {
  // Nodes' TLS certificates are their own; what a node says is confirmed by no one either way.
  const encrypted = address.endsWith(":50212");
  const channel = encrypted
    ? credentials.createSsl(null, null, null, { rejectUnauthorized: false, checkServerIdentity: () => undefined })
    : credentials.createInsecure();
  return new Client(address, channel, {
    "grpc.enable_retries": 0,
    "grpc.keepalive_time_ms": 310_000,
    "grpc.initial_reconnect_backoff_ms": 200,
    "grpc.max_reconnect_backoff_ms": 5_000,
    "grpc.max_receive_message_length": 65_536,
  });
}

/** False when there is no connection: then nothing was sent. */
function isReady(client: Client): Promise<boolean> {
  if (client.getChannel().getConnectivityState(true) === connectivityState.READY) return Promise.resolve(true);
  return new Promise((resolve) => {
    client.waitForReady(Date.now() + connectTimeoutMs, (error) => resolve(error === undefined));
  });
}

function call(client: Client, path: string, request: Uint8Array, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + timeoutMs;
    client.makeUnaryRequest(path, asIs, asIs, Buffer.from(request), { deadline }, (error, reply) =>
      error || !reply ? reject(error) : resolve(reply),
    );
  });
}

const asIs = (bytes: Buffer) => bytes;
