import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { proto } from "@hiero-ledger/proto";
import { accountId, parseEntityText, toInt64, tokenId, toTimestamp } from "../../../infra/local-hedera/hapi/ids.ts";

/** Payments and calls made by hand, for shapes the SDK does not make and for speed. */

export function paymentBody({ accounts, usdc }: Parties, validStart = nextStart()): proto.ITransactionBody {
  const [payer, from, to] = [accounts.feePayer, accounts.buyer, accounts.creator].map(
    (account) => parseEntityText(account.accountId)!,
  );
  return {
    transactionID: { accountID: accountId(payer!), transactionValidStart: toTimestamp(validStart) },
    nodeAccountID: accountId(3),
    transactionFee: toInt64(100_000_000),
    transactionValidDuration: { seconds: toInt64(180) },
    cryptoTransfer: {
      tokenTransfers: [
        {
          token: tokenId(parseEntityText(usdc)!),
          transfers: [
            { accountID: accountId(from!), amount: toInt64(-1) },
            { accountID: accountId(to!), amount: toInt64(1) },
          ],
        },
      ],
    },
  };
}

export function encodeBody(body: proto.ITransactionBody): Uint8Array {
  return proto.TransactionBody.encode(body).finish();
}

/** Signatures of buyer and fee payer over these bytes. */
export function signaturesOf({ accounts }: Parties, bodyBytes: Uint8Array): proto.ISignaturePair[] {
  return [accounts.buyer, accounts.feePayer].map(({ publicKey, privateKey }) => ({
    pubKeyPrefix: Buffer.from(publicKey, "hex"),
    ed25519: sign(null, bodyBytes, keyObject(privateKey)),
  }));
}

export function encodeTransaction(bodyBytes: Uint8Array, sigPair: proto.ISignaturePair[]): Buffer {
  const signedTransactionBytes = proto.SignedTransaction.encode({ bodyBytes, sigMap: { sigPair } }).finish();
  return Buffer.from(proto.Transaction.encode({ signedTransactionBytes }).finish());
}

export function signedPayment(parties: Parties, body = paymentBody(parties)): Buffer {
  const bytes = encodeBody(body);
  return encodeTransaction(bytes, signaturesOf(parties, bytes));
}

export function receiptQuery(transactionID: proto.ITransactionID): Buffer {
  return Buffer.from(proto.Query.encode({ transactionGetReceipt: { transactionID } }).finish());
}

export function connect(address: string) {
  const client = new Client(address, credentials.createInsecure());
  const call = (method: string, request: Buffer, timeoutMs = 10_000): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + timeoutMs };
      client.makeUnaryRequest(
        `/proto.CryptoService/${method}`,
        identity,
        identity,
        request,
        options,
        (error: ServiceError | null, response?: Buffer) => (error ? reject(error) : resolve(response!)),
      );
    });
  return {
    call,
    /** The name of the precheck status. */
    submit: async (transaction: Buffer, timeoutMs?: number): Promise<string> => {
      const answer = proto.TransactionResponse.decode(await call("cryptoTransfer", transaction, timeoutMs));
      return proto.ResponseCodeEnum[answer.nodeTransactionPrecheckCode]!;
    },
    /** The name of the receipt's status, or of the precheck status when there is no receipt. */
    receipt: async (id: proto.ITransactionID): Promise<string> => {
      const answer = proto.Response.decode(await call("getTransactionReceipts", receiptQuery(id)))
        .transactionGetReceipt!;
      return proto.ResponseCodeEnum[answer.receipt?.status ?? answer.header!.nodeTransactionPrecheckCode!]!;
    },
    close: () => client.close(),
  };
}

let lastStart = 0n;
const nextStart = (): bigint => {
  const now = BigInt(Date.now() - 5_000) * 1_000_000n;
  lastStart = now > lastStart ? now : lastStart + 1n;
  return lastStart;
};

const keys = new Map<string, KeyObject>();
const keyObject = (der: string): KeyObject => {
  const key = keys.get(der) ?? createPrivateKey({ key: Buffer.from(der, "hex"), format: "der", type: "pkcs8" });
  keys.set(der, key);
  return key;
};

const identity = (bytes: Buffer): Buffer => bytes;

export type Parties = {
  usdc: string;
  accounts: Record<"feePayer" | "buyer" | "creator", { accountId: string; privateKey: string; publicKey: string }>;
};
