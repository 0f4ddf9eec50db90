import { AccountUpdateTransaction, KeyList, PrivateKey } from "@hashgraph/sdk";
import { proto } from "@hiero-ledger/proto";
import { describe, expect } from "vitest";
import type { PaymentRequest } from "../../../facilitator/schemes/scheme.ts";
import { list } from "./payloads.ts";
import {
  execute,
  type HederaSetting,
  hederaSchemeTest,
  newBuyer,
  price,
  settled,
  usdcOf,
  verified,
} from "./setting.ts";

const test = hederaSchemeTest();

test.beforeAll(async ({ setting }) => {
  await setting.scheme.start();
});

/** As often as any copy may be the first in turn, twice. */
const turns = Array.from({ length: 6 }, (_, turn) => turn);

/** The same payment with the signatures of some of its copies changed; the first copy is 0. */
function changed(
  asked: PaymentRequest,
  copies: readonly number[],
  change: (pairs: proto.ISignaturePair[]) => proto.ISignaturePair[],
): PaymentRequest {
  const { transaction } = asked.payload as { transaction: string };
  const { transactionList } = proto.TransactionList.decode(Buffer.from(transaction, "base64"));
  const written = transactionList.map(({ signedTransactionBytes }, index) => {
    const { bodyBytes, sigMap } = proto.SignedTransaction.decode(signedTransactionBytes as Uint8Array);
    const pairs = sigMap?.sigPair ?? [];
    const sigPair = copies.includes(index) ? change(pairs) : pairs;
    return {
      signedTransactionBytes: proto.SignedTransaction.encode({ bodyBytes, sigMap: { sigPair } }).finish(),
    };
  });
  return { ...asked, payload: { transaction: list(...written) } };
}

const forged = (pairs: proto.ISignaturePair[]) => pairs.map((pair) => ({ ...pair, ed25519: Buffer.alloc(64, 0x11) }));

async function sentTo({ ledger }: HederaSetting, transaction: string): Promise<{ node: string; fee: number }> {
  const id = transaction.replace("@", "-").replace(/\.(\d+)$/, "-$1");
  const response = await fetch(`${ledger.mirrorUrl}/api/v1/transactions/${id}`);
  const { transactions } = (await response.json()) as { transactions: [{ node: string; charged_tx_fee: number }] };
  return { node: transactions[0].node, fee: transactions[0].charged_tx_fee };
}

describe("the payer signs a copy for each node", () => {
  test("a forged signature under the first is refused at every turn", async ({ setting }) => {
    for (const _ of turns) {
      const asked = changed(await setting.pay(), [0], forged);
      await expect(verified(setting.scheme, asked)).rejects.toThrow("signature_invalid");
    }
  });

  test("one that is signed by nobody, or by another key than the first, is refused at every turn", async ({
    setting,
  }) => {
    const stranger = Buffer.from(PrivateKey.generateED25519().publicKey.toBytesRaw());
    for (const change of [() => [], (pairs: proto.ISignaturePair[]) => [{ ...pairs[0], pubKeyPrefix: stranger }]]) {
      for (const _ of turns) {
        const asked = changed(await setting.pay(), [2], change);
        await expect(verified(setting.scheme, asked)).rejects.toThrow("signature_invalid");
      }
    }
  });

  test("one with a forged signature is never sent: what was found valid settles at every turn by the others", async ({
    setting,
  }) => {
    const { creator } = setting.ledger.accounts;
    const before = await usdcOf(setting.ledger, creator.accountId);
    for (const _ of turns) {
      const outcome = await settled(setting, changed(await setting.pay(), [1, 2], forged));
      expect(outcome).toMatchObject({ outcome: "settled" });
      expect((await sentTo(setting, outcome.transaction)).node).toBe("0.0.3");
    }
    expect(await usdcOf(setting.ledger, creator.accountId)).toBe(before + BigInt(turns.length) * price);
  });

  test("each is sent in its turn, and none with more signatures than the first needs", async ({ setting }) => {
    const [buyer, keys] = await buyerWithOneOfManyKeys(setting);
    const plain = await settled(setting, await setting.pay(buyer));
    const { fee } = await sentTo(setting, plain.transaction);
    const nodes = new Set<string>();
    for (const _ of turns) {
      const signedByAll = await setting.pay({ ...buyer, keys: [...keys, ...buyer.keys] });
      const outcome = await settled(
        setting,
        changed(signedByAll, [0], (pairs) => pairs.slice(-1)),
      );
      const sent = await sentTo(setting, outcome.transaction);
      expect(sent.fee).toBe(fee);
      nodes.add(sent.node);
    }
    expect(nodes.size).toBe(3);
  });
});

/** A buyer for whom either all of ten keys sign or the key that is returned as theirs. */
async function buyerWithOneOfManyKeys(
  setting: HederaSetting,
): Promise<[ReturnType<typeof newBuyer>, readonly PrivateKey[]]> {
  const buyer = newBuyer(setting.ledger, { usdc: 100n * price });
  const keys = Array.from({ length: 10 }, () => PrivateKey.generateED25519());
  const all = new KeyList(keys.map(({ publicKey }) => publicKey));
  const own = buyer.keys[0] as PrivateKey;
  const update = new AccountUpdateTransaction().setAccountId(buyer.payer).setKey(new KeyList([all, own.publicKey], 1));
  await execute(setting.ledger, update, own, ...keys);
  return [buyer, keys];
}
