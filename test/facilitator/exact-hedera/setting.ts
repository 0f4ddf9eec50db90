import { randomInt, randomUUID } from "node:crypto";
import {
  AccountId,
  Client,
  Hbar,
  PrivateKey,
  type Transaction,
  TransactionId,
  type TransactionReceipt,
  TransferTransaction,
} from "@hashgraph/sdk";
import { test as base } from "vitest";
import type { HederaConfig } from "../../../facilitator/schemes/exact-hedera/config.ts";
import type { HederaPayment } from "../../../facilitator/schemes/exact-hedera/payload.ts";
import { createExactHedera } from "../../../facilitator/schemes/exact-hedera/scheme.ts";
import {
  type Claim,
  type Claiming,
  isRefusal,
  type Outcome,
  type PaymentRequest,
  type Scheme,
} from "../../../facilitator/schemes/scheme.ts";
import { SettlementStore } from "../../../facilitator/settlements/store.ts";
import { type LocalHedera, startLocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import type { LocalHederaOptions } from "../../../infra/local-hedera/options.ts";
import { Secret } from "../../../shared/env.ts";
import { createLog, type Log } from "../../../shared/log.ts";
import { connect, type Database } from "../../../shared/postgres.ts";
import { perFile } from "../../support/part.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { statements } from "../../support/statements.ts";
import { request, usdc } from "./payloads.ts";

export const price = 50_000n;

/** A local ledger, a real store, and the scheme between them. */
export async function hederaSetting(
  options: LocalHederaOptions = {},
  change: Partial<HederaConfig> = {},
): Promise<HederaSetting> {
  const ledger = await startLocalHedera(options);
  const setting = await settingOn(ledger, change);
  return {
    ...setting,
    async stop() {
      await setting.stop();
      await ledger.close();
    },
  };
}

/** A local ledger and the scheme on it for a file, without the ledger's faults at the end of each test. */
export function hederaSchemeTest() {
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
      .extend("setting", perFile, async ({}, { onCleanup }) => {
        const setting = await hederaSetting();
        onCleanup(setting.stop);
        return setting;
      })
      .extend("calm", { auto: true }, ({ setting }, { onCleanup }) => {
        onCleanup(() => setting.ledger.faults.clear());
      })
  );
}

/** A scheme with a store of its own on a ledger that others may use too. */
export async function settingOn(
  ledger: LocalHedera,
  change: Partial<HederaConfig> = {},
  log: Log = createLog("test", "silent"),
): Promise<HederaSetting> {
  const db = connect(await freshDatabase("facilitator"), { poolMax: 5, statements, applicationName: "test" });
  const store = new SettlementStore(db);
  const config = { ...configOf(ledger), ...change };
  const scheme = createExactHedera(config, { store, db, log, copy: randomUUID() });
  return {
    ledger,
    db,
    store,
    config,
    scheme,
    pay: (terms = {}) => signedPayment({ ...buyerOf(ledger), ...terms }),
    async stop() {
      await scheme.stop();
      await db.end();
    },
  };
}

export interface HederaSetting {
  readonly ledger: LocalHedera;
  readonly db: Database;
  readonly store: SettlementStore;
  readonly config: HederaConfig;
  readonly scheme: Scheme<HederaPayment>;
  /** A request that pays 0.05 USDC from the ledger's buyer to its creator, unless other terms are given. */
  pay(terms?: Partial<Terms>): Promise<PaymentRequest>;
  stop(): Promise<void>;
}

export interface Terms {
  readonly payer: string;
  readonly payTo: string;
  readonly feePayer: string;
  readonly keys: readonly PrivateKey[];
  readonly amount: bigint;
  readonly asset: string;
  readonly nodes: readonly number[];
  readonly startsInSeconds: number;
  readonly seconds: number;
  readonly decimals: number;
  readonly feeMax: number;
  readonly transactionId: TransactionId;
}

/** The ledger's buyer, paying its creator. */
export function buyerOf({ accounts: { buyer, feePayer, creator } }: LocalHedera): Quote {
  const keys = [PrivateKey.fromStringDer(buyer.privateKey)];
  return { payer: buyer.accountId, payTo: creator.accountId, feePayer: feePayer.accountId, keys };
}

/** A new account on the ledger that pays with its own key. */
export function newBuyer(
  ledger: LocalHedera,
  has: { usdc?: bigint; hbar?: bigint } = {},
): Pick<Terms, "payer" | "keys"> {
  const key = PrivateKey.generateED25519();
  const { accountId } = ledger.faucet.createAccount({
    publicKey: key.publicKey.toStringRaw(),
    tinybars: has.hbar ?? 0n,
    associate: [usdc],
  });
  if (has.usdc) ledger.faucet.giveToken(accountId, has.usdc);
  return { payer: accountId, keys: [key] };
}

/** Runs a transaction of the ledger's operator, signed by others too, through the SDK. */
export async function execute(
  ledger: LocalHedera,
  transaction: Transaction,
  ...keys: PrivateKey[]
): Promise<TransactionReceipt> {
  const { operator } = ledger.accounts;
  const client = Client.forNetwork(ledger.nodes).setOperator(
    operator.accountId,
    PrivateKey.fromStringDer(operator.privateKey),
  );
  try {
    const frozen = transaction.freezeWith(client);
    for (const key of keys) await frozen.sign(key);
    return await (await frozen.execute(client)).getReceipt(client);
  } finally {
    client.close();
  }
}

/** What an account holds of the ledger's USDC. */
export async function usdcOf(ledger: LocalHedera, account: string): Promise<bigint> {
  const response = await fetch(`${ledger.mirrorUrl}/api/v1/accounts/${account}/tokens?token.id=${usdc}`);
  const { tokens } = (await response.json()) as { tokens: [{ balance: number }] };
  return BigInt(tokens[0].balance);
}

export function configOf(ledger: LocalHedera): HederaConfig {
  const { feePayer } = ledger.accounts;
  return {
    network: "hedera:testnet",
    nodes: ledger.nodes,
    mirrorUrl: ledger.mirrorUrl,
    feePayers: [{ accountId: feePayer.accountId, privateKey: new Secret(feePayer.privateKey) }],
    assets: [usdc, "0.0.0"],
    amountMin: 1_000n,
    explorer: undefined,
    balanceLow: 2_000_000_000n,
    balanceEmpty: 200_000_000n,
    dailyBudget: 0n,
    transactionFeeMax: 200_000_000n,
    transactionFeeMin: 1_000_000n,
  };
}

type Quote = Pick<Terms, "payer" | "payTo" | "feePayer" | "keys">;

/** What a buyer's SDK makes of a quote. */
export async function signedPayment(terms: Quote & Partial<Terms>): Promise<PaymentRequest> {
  const { payer, payTo, feePayer, keys, amount = price, asset = usdc, nodes = [3, 4, 5], seconds = 120 } = terms;
  const transfer = new TransferTransaction()
    .setTransactionId(terms.transactionId ?? newId(feePayer, terms.startsInSeconds ?? -1))
    .setNodeAccountIds(nodes.map((node) => new AccountId(node)))
    .setTransactionValidDuration(seconds);
  const legs = [
    [payer, -amount],
    [payTo, amount],
  ] as const;
  for (const [account, value] of legs) {
    if (asset === "0.0.0") transfer.addHbarTransfer(account, Hbar.fromTinybars(`${value}`));
    else if (terms.decimals === undefined) transfer.addTokenTransfer(asset, account, Number(value));
    else transfer.addTokenTransferWithDecimals(asset, account, Number(value), terms.decimals);
  }
  if (terms.feeMax !== undefined) transfer.setMaxTransactionFee(Hbar.fromTinybars(terms.feeMax));
  const frozen: Transaction = transfer.freeze();
  for (const key of keys) await frozen.sign(key);
  const requirements = { asset, amount: `${amount}`, payTo, extra: { feePayer } };
  return request(Buffer.from(frozen.toBytes()).toString("base64"), { requirements });
}

export function newId(feePayer: string, startsInSeconds: number): TransactionId {
  const milliseconds = Date.now() + startsInSeconds * 1_000;
  const nanos = (milliseconds % 1_000) * 1_000_000 + randomInt(1_000_000);
  return TransactionId.fromString(`${feePayer}@${Math.floor(milliseconds / 1_000)}.${nanos}`);
}

/** decode and check, as /verify does; the refusal's reason and message, or the payment. */
export async function verified(scheme: Scheme<HederaPayment>, asked: PaymentRequest): Promise<HederaPayment> {
  const payment = scheme.decode(asked);
  if (isRefusal(payment)) throw new Error(`${payment.refused}: ${payment.message}`);
  const refusal = await scheme.check(payment);
  if (refusal) throw new Error(`${refusal.refused}: ${refusal.message}`);
  return payment;
}

/** decode, check, claim, submit and finish, as /settle does. */
export async function settled(setting: HederaSetting, asked: PaymentRequest): Promise<Outcome> {
  return submitted(setting, await verified(setting.scheme, asked));
}

/** No other caller may send this payment now. */
export async function claimed({ store }: HederaSetting, payment: HederaPayment): Promise<Claim> {
  const claim = await store.claim("hedera:testnet", "exact", payment, anyTerms);
  if (!claim) throw new Error("somebody else has claimed this payment");
  return claim;
}

/** What /settle does with a new payment it has checked. */
export async function submitted(setting: HederaSetting, payment: HederaPayment, withinMs = 20_000): Promise<Outcome> {
  const claiming: Claiming = {
    wanted: { network: "hedera:testnet", scheme: "exact", payment, terms: anyTerms },
  };
  const deadline = new Date(Date.now() + withinMs);
  const first = await setting.scheme.claimAndSubmit!(payment, claiming, deadline);
  const claim = claiming.claim ?? (await claimed(setting, payment));
  const outcome = first === "unclaimed" ? await setting.scheme.submit(payment, claim, deadline) : first;
  await setting.store.finish(claim, outcome, 0, true);
  return outcome;
}

export const anyTerms = { resourceUrl: undefined, failuresMax: 0, failuresPerDayMax: 0 };
