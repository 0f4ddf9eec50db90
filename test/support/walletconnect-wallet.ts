import { PrivateKey } from "@hashgraph/sdk";
import { proto } from "@hiero-ledger/proto";
import { SignClient } from "@walletconnect/sign-client";

export interface OutsideWallet {
  /** Opens the link that a page shows, as a wallet's camera does. */
  scan(link: string): Promise<void>;
  /** What it does from now on with what it is asked. */
  behave(behaviour: Behaviour): void;
  /** What it was asked to sign, oldest first. */
  readonly asked: readonly string[];
  /** How many pages it is connected to. */
  connected(): number;
  /** Ends every connection. */
  leave(): Promise<void>;
  stop(): Promise<void>;
}

type Behaviour = "approve" | "refuse to connect" | "refuse to sign" | "show another network" | "hold";

/** A Hedera wallet outside the browser: WalletConnect's stock client, a key, and HIP-820's two methods that sign. */
export async function startOutsideWallet(options: {
  readonly relayUrl: string;
  readonly network: string;
  readonly accountId: string;
  /** DER in hexadecimal. */
  readonly privateKey: string;
}): Promise<OutsideWallet> {
  const key = PrivateKey.fromStringDer(options.privateKey);
  const asked: string[] = [];
  let behaviour: Behaviour = "approve";
  const client = await SignClient.init({
    projectId: "test-wallet",
    relayUrl: options.relayUrl,
    metadata: { name: "Test wallet", description: "A wallet of tests", url: "https://wallet.example.com", icons: [] },
    storageOptions: { database: ":memory:" },
    customStoragePrefix: crypto.randomUUID(),
    telemetryEnabled: false,
    logger: "silent",
  });
  client.on("session_proposal", async ({ id }) => {
    if (behaviour === "refuse to connect") {
      return client.reject({ id, reason: { code: 5_000, message: "User rejected." } });
    }
    const network = behaviour === "show another network" ? "hedera:mainnet" : options.network;
    const accounts = [`${network}:${options.accountId}`];
    const methods = ["hedera_signTransaction", "hedera_signMessage"];
    await client.approve({ id, namespaces: { hedera: { accounts, methods, events: [] } } });
  });
  client.on("session_request", async ({ id, topic, params: { request } }) => {
    asked.push(request.method);
    if (behaviour === "hold") return;
    const error = { code: 5_000, message: "User rejected." };
    const signed = () => ({ signatureMap: signatureMap(key, bytesOf(request)) });
    const said = behaviour === "refuse to sign" ? { error } : { result: signed() };
    await client.respond({ topic, response: { id, jsonrpc: "2.0", ...said } });
  });
  const leave = async () => {
    const reason = { code: 6_000, message: "User disconnected." };
    for (const { topic } of client.session.getAll()) await client.disconnect({ topic, reason });
  };
  return {
    asked,
    leave,
    scan: (link) => client.pair({ uri: link }).then(() => undefined),
    behave: (next) => {
      behaviour = next;
    },
    connected: () => client.session.getAll().length,
    stop: async () => {
      await client.core.relayer.transportClose();
      client.core.heartbeat.stop();
    },
  };
}

interface Request {
  readonly method: string;
  readonly params: { readonly transactionBody: string; readonly message: string };
}

/** What HIP-820 has wallets sign. */
function bytesOf({ method, params }: Request): Buffer {
  if (method === "hedera_signTransaction") return Buffer.from(params.transactionBody, "base64");
  return Buffer.from(`\x19Hedera Signed Message:\n${params.message.length}${params.message}`);
}

function signatureMap(key: PrivateKey, bytes: Buffer): string {
  const signature = key.sign(bytes);
  const kind = key.type === "secp256k1" ? "ECDSASecp256k1" : "ed25519";
  const pair = { pubKeyPrefix: key.publicKey.toBytesRaw(), [kind]: signature };
  return Buffer.from(proto.SignatureMap.encode({ sigPair: [pair] }).finish()).toString("base64");
}
