import {
  AccountCreateTransaction,
  AccountId,
  Client,
  type CustomFee,
  type Key,
  PrivateKey,
  type Status,
  StatusError,
  TokenAssociateTransaction,
  TokenCreateTransaction,
  type Transaction,
  TransactionId,
  type TransactionReceipt,
  TransactionReceiptQuery,
  TransferTransaction,
} from "@hashgraph/sdk";
import { expect } from "vitest";
import { type LocalHedera, startLocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import type { LocalHederaOptions } from "../../../infra/local-hedera/options.ts";

/** A running ledger, the unmodified SDK pointed at it, and short words for what the tests do over and over. */
export async function openLedger(options: LocalHederaOptions = {}) {
  const ledger = await startLocalHedera({ consensusDelayMs: 2, ...options });
  const sdk = sdkOn(ledger);
  const close = async (): Promise<void> => {
    sdk.close();
    await ledger.close();
  };
  return { ...sdk, close };
}

/** The same for a ledger that is running; the test that started it closes it. */
export function sdkOn(ledger: LocalHedera) {
  const keys = keysOf(ledger);
  const { newClient, close } = clientsOf(ledger);
  /** Pays nothing and signs nothing by itself: what it executes is signed by hand. */
  const client = newClient();
  /** The operator's: pays for, and signs, what it executes. */
  const operated = newClient().setOperator(ledger.accounts.operator.accountId, keys.operator);
  const executing = executingBy(client, operated);
  const signing = { keys, client, statusOf: executing.statusOf };
  return {
    ledger,
    accounts: ledger.accounts,
    keys,
    client,
    operated,
    newClient,
    ...executing,
    ...payingOn(ledger, signing),
    ...creatingBy(keys.operator, executing.run),
    ...readingOf(ledger),
    close,
  };
}

type Keys = ReturnType<typeof keysOf>;

function keysOf({ accounts: { buyer, creator, feePayer, operator, usdcTreasury } }: LocalHedera) {
  return {
    buyer: PrivateKey.fromStringDer(buyer.privateKey),
    creator: PrivateKey.fromStringDer(creator.privateKey),
    feePayer: PrivateKey.fromStringDer(feePayer.privateKey),
    operator: PrivateKey.fromStringDer(operator.privateKey),
    usdcTreasury: PrivateKey.fromStringDer(usdcTreasury.privateKey),
  };
}

function clientsOf(ledger: LocalHedera) {
  const clients: Client[] = [];
  const newClient = (nodes = ledger.nodes): Client => {
    const client = Client.forNetwork(nodes).setMinBackoff(5).setMaxBackoff(20).setMaxAttempts(100);
    client.setNodeMinBackoff(5).setNodeMaxBackoff(20);
    clients.push(client);
    return client;
  };
  const close = (): void => {
    for (const open of clients) open.close();
  };
  return { newClient, close };
}

type Run = (transaction: Transaction, ...signers: PrivateKey[]) => Promise<TransactionReceipt>;

function executingBy(client: Client, operated: Client) {
  const receiptOf = (id: TransactionId): Promise<TransactionReceipt> =>
    new TransactionReceiptQuery().setTransactionId(id).setValidateStatus(false).execute(client);

  /** Executes and waits; the status whether it succeeded or not, of the precheck or of the receipt. */
  const statusOf = async (transaction: Transaction, by: Client = operated): Promise<string> => {
    try {
      const { transactionId } = await transaction.execute(by);
      return (await receiptOf(transactionId)).status.toString();
    } catch (error) {
      if (error instanceof StatusError) return (error.status as Status).toString();
      throw error;
    }
  };

  const run: Run = async (transaction, ...signers) => {
    transaction.freezeWith(operated);
    for (const signer of signers) await transaction.sign(signer);
    const { transactionId } = await transaction.execute(operated);
    const receipt = await receiptOf(transactionId);
    if (receipt.status.toString() !== "SUCCESS") throw new Error(`${transactionId}: ${receipt.status}`);
    return receipt;
  };

  const statusWith = async (transaction: Transaction, ...signers: PrivateKey[]): Promise<string> => {
    transaction.freezeWith(operated);
    for (const signer of signers) await transaction.sign(signer);
    return statusOf(transaction);
  };

  return { receiptOf, statusOf, run, statusWith };
}

interface Signing {
  readonly keys: Keys;
  readonly client: Client;
  readonly statusOf: (transaction: Transaction, by: Client) => Promise<string>;
}

function payingOn({ usdc, accounts: { buyer, creator, feePayer } }: LocalHedera, { keys, client, statusOf }: Signing) {
  /** What a payer hands over by x402: signed by the payer, to be paid for by the fee payer. */
  const payment = (
    amount: number,
    { from, to, token = usdc, id, nodes = ["0.0.3"] }: Payment = {},
  ): TransferTransaction =>
    new TransferTransaction()
      .addTokenTransfer(token, from ?? buyer.accountId, -amount)
      .addTokenTransfer(token, to ?? creator.accountId, amount)
      .setTransactionId(id ?? TransactionId.generate(feePayer.accountId))
      .setNodeAccountIds(nodes.map((node) => AccountId.fromString(node)));

  const settle = async (unsigned: TransferTransaction, ...signers: PrivateKey[]): Promise<string> => {
    if (!unsigned.isFrozen()) unsigned.freeze();
    for (const signer of signers) await unsigned.sign(signer);
    return statusOf(await unsigned.sign(keys.feePayer), client);
  };

  return { payment, settle };
}

function creatingBy(operator: PrivateKey, run: Run) {
  const newAccount = async (key: Key, hbar = 10): Promise<string> => {
    const create = new AccountCreateTransaction().setKeyWithoutAlias(key).setInitialBalance(hbar);
    return (await run(create)).accountId!.toString();
  };

  const associate = async (account: string, token: string, ...signers: PrivateKey[]): Promise<void> => {
    await run(new TokenAssociateTransaction().setAccountId(account).setTokenIds([token]), ...signers);
  };

  /** A fungible token, all of it with its treasury; every key it has is the operator's. */
  const newToken = async ({ treasury, treasuryKey, ...more }: NewToken): Promise<string> => {
    const create = new TokenCreateTransaction()
      .setTokenName("Test")
      .setTokenSymbol("TST")
      .setDecimals(2)
      .setInitialSupply(1_000_000)
      .setTreasuryAccountId(treasury)
      .setCustomFees(more.customFees ?? []);
    for (const name of more.keys ?? []) create[`set${name}Key`](operator.publicKey);
    return (await run(create, treasuryKey)).tokenId!.toString();
  };

  return { newAccount, associate, newToken };
}

function readingOf(ledger: LocalHedera) {
  // biome-ignore lint/suspicious/noExplicitAny: the mirror's JSON, asserted field by field
  const mirror = async (path: string): Promise<any> => {
    const response = await fetch(`${ledger.mirrorUrl}/api/v1/${path}`);
    return { ...((await response.json()) as object), httpStatus: response.status };
  };

  const tokenBalance = async (account: string, token = ledger.usdc): Promise<number | undefined> =>
    (await mirror(`accounts/${account}/tokens?token.id=${token}`)).tokens[0]?.balance;

  const hbarBalance = async (account: string): Promise<bigint> => (await hbarBalances(ledger)).get(account) ?? 0n;

  return { mirror, tokenBalance, hbarBalance };
}

/** Waits, for as long as a busy machine may need, until what is read is what is expected. */
export function eventually<T>(read: () => T): ReturnType<typeof expect.poll> {
  return expect.poll(read, { interval: 10 });
}

/** Tinybars of every account; the treasury holds more than a JavaScript number can. */
export async function hbarBalances(ledger: LocalHedera): Promise<Map<string, bigint>> {
  const text = await (await fetch(`${ledger.mirrorUrl}/api/v1/balances?limit=100`)).text();
  return new Map(
    [...text.matchAll(/"account":"([^"]+)","balance":(\d+)/g)].map(([, account, balance]) => [
      account!,
      BigInt(balance!),
    ]),
  );
}

/** The mirror's spelling of a transaction id. */
export function mirrorId(id: TransactionId | string): string {
  return id
    .toString()
    .replace("@", "-")
    .replace(/\.(\d+)$/, "-$1");
}

type Payment = { from?: string; to?: string; token?: string; id?: TransactionId; nodes?: string[] };

type NewToken = {
  treasury: string;
  treasuryKey: PrivateKey;
  keys?: ("Admin" | "Kyc" | "Freeze" | "Supply" | "Pause" | "FeeSchedule")[];
  customFees?: CustomFee[];
};

export type OpenLedger = Awaited<ReturnType<typeof openLedger>>;
