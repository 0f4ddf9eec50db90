import type { PrivateKey, Transaction } from "@hashgraph/sdk";
import { proto } from "@hiero-ledger/proto";
import type { Secret } from "../../../shared/env.ts";
import type { MirrorKey } from "./mirror.ts";

type Sdk = typeof import("@hashgraph/sdk");

/**
 * The platform's own account on the chain: it pays for the transactions of agents and spends what creators allow it.
 * It is no fee payer of the facilitator and holds no creator's key. The SDK is loaded when it is first used.
 */
export class Operator {
  readonly accountId: string;
  readonly #key: Secret;
  #loaded: Promise<{ sdk: Sdk; key: PrivateKey }> | undefined;

  constructor(options: { accountId: string; key: Secret }) {
    this.accountId = options.accountId;
    this.#key = options.key;
  }

  /**
   * What `make` builds, signed for each node under one transaction id that begins now: the ids of its parts in order
   * (one, unless it is a message in chunks), and for every part the bytes that each node takes.
   */
  async sign(make: (sdk: Sdk) => Transaction, validSeconds: number, nodes: readonly string[]): Promise<Signed> {
    const { sdk, key } = await this.#load();
    // A little in the past, since no two clocks agree.
    const startMs = Date.now() - backdatedMs;
    const duration = Math.min(durationMax, validSeconds + backdatedMs / 1_000);
    const nanos = (startMs % 1_000) * 1_000_000 + Math.floor(Math.random() * 1_000_000);
    const first = `${this.accountId}@${Math.floor(startMs / 1_000)}.${String(nanos).padStart(9, "0")}`;
    const ids: string[] = [];
    const parts: Copy[][] = [];
    for (const node of nodes) {
      const transaction = make(sdk)
        .setTransactionId(sdk.TransactionId.fromString(first))
        .setNodeAccountIds([sdk.AccountId.fromString(node)])
        .setTransactionValidDuration(duration)
        .setMaxTransactionFee(sdk.Hbar.fromTinybars(transactionFeeMax.toString()))
        .freeze();
      const { transactionList } = proto.TransactionList.decode((await transaction.sign(key)).toBytes());
      transactionList.forEach((part, index) => {
        ids[index] = idOf(part);
        parts[index] ??= [];
        parts[index].push({ node, bytes: proto.Transaction.encode(part).finish() });
      });
    }
    return { ids, parts, validUntil: new Date(startMs + duration * 1_000) };
  }

  /** Whether the operator's signature alone satisfies a key: it is the key, or enough of a list. */
  async satisfies(key: MirrorKey | null): Promise<boolean> {
    if (!key) return false;
    const { key: own } = await this.#load();
    const raw = own.publicKey.toStringRaw();
    if (key._type !== "ProtobufEncoded") return key.key === raw;
    return signs(proto.Key.decode(Buffer.from(key.key, "hex")), raw);
  }

  #load(): Promise<{ sdk: Sdk; key: PrivateKey }> {
    this.#loaded ??= import("@hashgraph/sdk").then((sdk) => ({ sdk, key: readKey(sdk, this.#key.reveal()) }));
    return this.#loaded;
  }
}

export interface Signed {
  readonly ids: readonly string[];
  readonly parts: ReadonlyArray<readonly Copy[]>;
  readonly validUntil: Date;
}

/** A Transaction, signed, for one node. */
interface Copy {
  readonly node: string;
  readonly bytes: Uint8Array;
}

/** `ed25519:<hex>`, `ecdsa:<hex>` or DER in hex. */
export const operatorKey = /^((ed25519|ecdsa):(0x)?[0-9a-f]{64}|30[0-9a-f]{60,300})$/i;

/** In tinybars: the chain takes no more for one transaction. */
export const transactionFeeMax = 200_000_000n;

const backdatedMs = 8_000;
/** In seconds: the chain takes nothing that is valid for longer. */
const durationMax = 180;

function readKey(sdk: Sdk, text: string): PrivateKey {
  const [kind, hex = ""] = text.toLowerCase().split(":");
  if (kind === "ed25519") return sdk.PrivateKey.fromStringED25519(hex);
  if (kind === "ecdsa") return sdk.PrivateKey.fromStringECDSA(hex);
  return sdk.PrivateKey.fromStringDer(text);
}

function idOf({ signedTransactionBytes }: proto.ITransaction): string {
  const { bodyBytes } = proto.SignedTransaction.decode(signedTransactionBytes!);
  const { transactionID: id } = proto.TransactionBody.decode(bodyBytes);
  const { seconds, nanos } = id!.transactionValidStart!;
  return `0.0.${id!.accountID!.accountNum}@${seconds}.${String(nanos).padStart(9, "0")}`;
}

function signs(key: proto.IKey, raw: string): boolean {
  const list = key.thresholdKey?.keys?.keys ?? key.keyList?.keys;
  if (list) {
    const needed = key.thresholdKey ? Number(key.thresholdKey.threshold) : list.length;
    return needed > 0 && list.filter((member) => signs(member, raw)).length >= needed;
  }
  const bytes = key.ed25519?.length ? key.ed25519 : key.ECDSASecp256k1;
  return bytes !== undefined && bytes !== null && Buffer.from(bytes).toString("hex") === raw;
}
