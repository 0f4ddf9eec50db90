import { describe, expect } from "vitest";
import type { HederaPayment } from "../../../facilitator/schemes/exact-hedera/payload.ts";
import { readSettlement } from "../../../facilitator/schemes/exact-hedera/sent-transfers.ts";
import type { Unfinished } from "../../../facilitator/schemes/scheme.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { usdc } from "./payloads.ts";
import { type HederaSetting, hederaSchemeTest, price, settingOn, submitted, verified } from "./setting.ts";

const test = hederaSchemeTest();

interface MirrorRecord {
  readonly transfers: ReadonlyArray<{ readonly account: string; readonly amount: number }>;
  readonly [field: string]: unknown;
}

type Rewards = Readonly<Record<string, number>>;

/** A record as the mirror has it where the network also paid staking rewards, which the ledger here does not. */
function rewarded(record: MirrorRecord, rewards: Rewards): MirrorRecord {
  const rows = new Map(record.transfers.map(({ account, amount }) => [account, amount]));
  const add = (account: string, amount: number) => rows.set(account, (rows.get(account) ?? 0) + amount);
  for (const [account, amount] of Object.entries(rewards)) {
    add(account, amount);
    add("0.0.800", -amount);
  }
  return {
    ...record,
    transfers: [...rows].flatMap(([account, amount]) =>
      amount === 0 ? [] : [{ account, amount, is_approval: false }],
    ),
    staking_reward_transfers: Object.entries(rewards).map(([account, amount]) => ({ account, amount })),
  };
}

async function mirrorWithRewards(mirrorUrl: string, rewards: Rewards) {
  return startHttpServer(async (request, response) => {
    const answer = await fetch(mirrorUrl + request.url);
    const body = (await answer.json()) as { transactions?: readonly MirrorRecord[] };
    const isList = request.url!.startsWith("/api/v1/transactions");
    const transactions = isList && { transactions: body.transactions?.map((record) => rewarded(record, rewards)) };
    response.writeHead(answer.status).end(JSON.stringify({ ...body, ...transactions }));
  });
}

/** Its row where nothing that was signed is on record any more. */
const bareRow = (payment: HederaPayment): Unfinished => ({
  ...payment,
  id: 1n,
  network: "hedera:testnet",
  feePayer: "",
  transaction: "",
  signedTransactions: [],
  raw: [],
  nonce: undefined,
  createdAt: new Date(),
});

const amount = Number(price);
const [feePayer, creator, buyer] = ["0.0.1001", "0.0.1002", "0.0.1003"];

describe.for([usdc, "0.0.0"])("a payment of %s settles", (asset) => {
  test.for<[string, Rewards]>([
    ["the payer", { [buyer]: 7 }],
    ["the payer as much as it paid", { [buyer]: amount }],
    ["the payee", { [creator]: 1_000_000_000 }],
    ["the fee payer", { [feePayer]: 123_456_789 }],
    ["the node", { "0.0.3": 99 }],
    ["all of them", { [buyer]: 2 * amount, [creator]: amount, [feePayer]: 5, "0.0.3": 6 }],
  ])("where staking rewards %s in the same transaction", async ([_, rewards], { setting }) => {
    const mirror = await mirrorWithRewards(setting.ledger.mirrorUrl, rewards);
    const staked: HederaSetting = await settingOn(setting.ledger, { mirrorUrl: mirror.url });
    try {
      await staked.scheme.start();
      const payment = await verified(staked.scheme, await staked.pay({ asset, nodes: [3] }));
      expect(await submitted(staked, payment)).toEqual({ outcome: "settled", transaction: payment.key });
      expect(await staked.scheme.find(bareRow(payment))).toEqual({
        outcome: "settled",
        transaction: payment.key,
        byAnother: true,
      });
      expect(await staked.scheme.findSettled(payment)).toMatchObject({ refused: "already_settled" });
      const found = await fetch(`${mirror.url}/api/v1/transactions?account.id=${feePayer}&limit=1`);
      const { transactions } = (await found.json()) as { transactions: [MirrorRecord] };
      const { payer, payTo, key } = payment;
      expect(readSettlement(transactions[0], feePayer, staked.config)).toMatchObject({
        ...{ key, payer, payTo, asset, amount: price },
      });
    } finally {
      await staked.stop();
      mirror.stop();
    }
  });
});
