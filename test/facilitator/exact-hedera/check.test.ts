import {
  CustomFractionalFee,
  PrivateKey,
  TokenCreateTransaction,
  TokenFreezeTransaction,
  TokenPauseTransaction,
  TokenUnfreezeTransaction,
  TokenUnpauseTransaction,
} from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import type { HederaPayment } from "../../../facilitator/schemes/exact-hedera/payload.ts";
import { elapse } from "../../support/elapse.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { kept, perFile } from "../../support/part.ts";
import { usdc } from "./payloads.ts";
import {
  execute,
  type HederaSetting,
  hederaSchemeTest,
  newBuyer,
  price,
  settingOn,
  type Terms,
  verified,
} from "./setting.ts";

let setting: HederaSetting;
let mirror: CountingMirror;

const test = hederaSchemeTest()
  .extend("countedMirror", perFile, ({ setting }, { onCleanup }) =>
    kept(countingMirror(setting.ledger.mirrorUrl), onCleanup),
  )
  .extend("counted", perFile, ({ setting, countedMirror }, { onCleanup }) =>
    kept(settingOn(setting.ledger, { mirrorUrl: countedMirror.url }), onCleanup),
  );
test.beforeAll(async ({ counted, countedMirror }) => {
  [setting, mirror] = [counted, countedMirror];
  await setting.scheme.start();
});

const verify = async (terms: Partial<Terms> = {}, on = setting): Promise<HederaPayment> =>
  verified(on.scheme, await setting.pay(terms));
const failed = (message: string) => `invalid_exact_hedera_payload_preflight_failed: ${message}`;
const notJudged = "unexpected_verify_error: unverifiable";
const treasuryKey = () => PrivateKey.fromStringDer(setting.ledger.accounts.usdcTreasury.privateKey);
const byTreasury = (transaction: Parameters<typeof execute>[1]) => execute(setting.ledger, transaction, treasuryKey());
const paidAccount = (options: object = {}) =>
  setting.ledger.faucet.createAccount({ publicKey: PrivateKey.generateED25519().publicKey.toStringRaw(), ...options })
    .accountId;

describe("time (G8)", () => {
  const expired = "invalid_exact_hedera_payload_transaction_expired";
  test("a payment needs 25 s of validity left: the node's ten and fifteen to be sent in", async () => {
    await expect(verify({ seconds: 30, startsInSeconds: -6 })).rejects.toThrow(expired);
    // A busy machine may take longer than two seconds for one.
    const holds = () => verify({ seconds: 30, startsInSeconds: -3 }).then(() => true);
    await expect.poll(holds).toBe(true);
  });

  test("a payment that begins later is refused, unless the clocks may just differ", async () => {
    await expect(verify({ startsInSeconds: 30 })).rejects.toThrow(expired);
    await verify({ startsInSeconds: 1 });
  });

  test("a payment that ended long ago, or begins in years, is refused", async () => {
    await expect(verify({ startsInSeconds: -100_000 })).rejects.toThrow(expired);
    await expect(verify({ startsInSeconds: 1_000_000_000 })).rejects.toThrow(expired);
  });
});

describe("the payer's signature (H22)", () => {
  const invalid = "invalid_exact_hedera_payload_signature_invalid";

  test("another key than the account's is refused", async () => {
    await expect(verify({ keys: [PrivateKey.generateED25519()] })).rejects.toThrow(`${invalid}: signature_invalid`);
  });

  test("the key of an account that does not exist is refused", async () => {
    await expect(verify({ payer: "0.0.987654" })).rejects.toThrow(`${invalid}: signature_unverifiable`);
  });
});

describe("the payer's money (H23)", () => {
  test("one unit too few is refused, just enough accepted", async () => {
    await expect(verify(newBuyer(setting.ledger, { usdc: price - 1n }))).rejects.toThrow(
      failed("insufficient_balance"),
    );
    await verify(newBuyer(setting.ledger, { usdc: price }));
  });

  test("a payer without any of the token is refused", async () => {
    await expect(verify(newBuyer(setting.ledger))).rejects.toThrow(failed("insufficient_balance"));
  });

  test("HBAR is counted where HBAR is paid", async () => {
    const asset = "0.0.0";
    await verify({ ...newBuyer(setting.ledger, { hbar: price }), asset });
    await expect(verify({ ...newBuyer(setting.ledger, { hbar: price - 1n }), asset })).rejects.toThrow(
      failed("insufficient_balance"),
    );
  });

  test("a frozen payer is refused until it is not", async () => {
    const buyer = newBuyer(setting.ledger, { usdc: price });
    await byTreasury(new TokenFreezeTransaction().setTokenId(usdc).setAccountId(buyer.payer));
    await expect(verify(buyer)).rejects.toThrow(failed("payer_frozen"));
    await byTreasury(new TokenUnfreezeTransaction().setTokenId(usdc).setAccountId(buyer.payer));
    await verify(buyer);
  });
});

describe("payTo (H23)", () => {
  test.each<[string, object, string]>([
    [
      "that must sign what it receives",
      { associate: [usdc], receiverSignatureRequired: true },
      "pay_to_signature_required",
    ],
    ["not associated with the token", {}, "pay_to_not_associated"],
    ["with free association slots only", { maxAutoAssociations: 5 }, "pay_to_not_associated"],
  ])("an account %s is refused", async (_name, options, reason) => {
    await expect(verify({ payTo: paidAccount(options) })).rejects.toThrow(failed(reason));
  });

  test("an account that does not exist is refused", async () => {
    await expect(verify({ payTo: "0.0.987654" })).rejects.toThrow(failed("pay_to_not_found"));
  });

  test("a frozen account is refused, and an account that has associated meanwhile accepted", async () => {
    const frozen = paidAccount({ associate: [usdc] });
    await byTreasury(new TokenFreezeTransaction().setTokenId(usdc).setAccountId(frozen));
    await expect(verify({ payTo: frozen })).rejects.toThrow(failed("pay_to_frozen"));

    const late = paidAccount();
    await expect(verify({ payTo: late })).rejects.toThrow(failed("pay_to_not_associated"));
    setting.ledger.faucet.associate(late, usdc);
    const isPayable = () =>
      verify({ payTo: late }).then(
        () => true,
        () => false,
      );
    await expect.poll(isPayable).toBe(true);
  });
});

describe("the token (G17)", () => {
  test("decimals the payer believes in must be the token's", async () => {
    await verify({ decimals: 6 });
    await expect(verify({ decimals: 8 })).rejects.toThrow(failed("token_decimals"));
  });

  test("a paused token is refused", async () => {
    const paused = await settingOn(setting.ledger);
    try {
      await byTreasury(new TokenPauseTransaction().setTokenId(usdc));
      await expect(verify({}, paused)).rejects.toThrow(failed("token_paused"));
    } finally {
      await byTreasury(new TokenUnpauseTransaction().setTokenId(usdc));
      await paused.stop();
    }
  });

  test("a token whose own fee would reduce the payment is refused, at the payment and at the start", async () => {
    const { operator, creator, buyer } = setting.ledger.accounts;
    const fee = new CustomFractionalFee()
      .setNumerator(1)
      .setDenominator(10)
      .setFeeCollectorAccountId(operator.accountId);
    const create = new TokenCreateTransaction()
      .setTokenName("Toll")
      .setTokenSymbol("TOLL")
      .setDecimals(6)
      .setInitialSupply(1_000_000)
      .setTreasuryAccountId(operator.accountId)
      .setCustomFees([fee]);
    const toll = String((await execute(setting.ledger, create)).tokenId);
    setting.ledger.faucet.associate(creator.accountId, toll);
    const terms = { asset: toll, payer: operator.accountId, keys: [PrivateKey.fromStringDer(operator.privateKey)] };
    const lenient = await settingOn(setting.ledger, { assets: [toll] });
    await expect(verify(terms, lenient)).rejects.toThrow(failed("token_has_custom_fees"));
    await expect(lenient.scheme.start()).rejects.toThrow(`token ${toll} has custom fees`);
    await lenient.stop();
    expect(buyer.accountId).not.toBe(operator.accountId);
  });
});

describe("the mirror", () => {
  test("is asked once for the tenth payment of one buyer to one creator", async () => {
    await verify();
    const before = mirror.count();
    for (let payment = 0; payment < 10; payment += 1) await verify();
    expect(mirror.count() - before).toBe(10);
  });

  test("is asked once what twenty payments want to know at the same moment", async () => {
    const buyer = newBuyer(setting.ledger, { usdc: price });
    const asked = await Promise.all(Array.from({ length: 20 }, () => setting.pay(buyer)));
    const before = mirror.count();
    // Longer than it takes a busy machine to come to the last of them.
    mirror.delay(1_500);
    await Promise.all(asked.map((one) => verified(setting.scheme, one)));
    mirror.delay(0);
    // The buyer's account and its balance; what concerns payTo and the token is remembered.
    expect(mirror.count() - before).toBeLessThanOrEqual(3);
  });

  test("that does not answer makes a payment unverifiable, not valid", async () => {
    setting.ledger.faults.set({ mirrorUnavailable: 100 });
    await expect(verify()).rejects.toThrow(notJudged);
    await expect(verify(newBuyer(setting.ledger, { usdc: price }))).rejects.toThrow(notJudged);
  });

  test("that never answers makes it so, too, and is not waited for without end", async () => {
    mirror.hang(true);
    await expect(verify()).rejects.toThrow(notJudged);
    mirror.hang(false);
  });
});

test("a fee payer without HBAR is known to be so, also as the one that a payment names", async () => {
  const poor = await settingOn(setting.ledger, { balanceEmpty: 10n ** 18n });
  await poor.scheme.start();
  const balances = [{ feePayer: "0.0.1001", unit: "HBAR", decimals: 8, empty: true, signs: true }];
  expect(poor.scheme.balances()).toMatchObject(balances);
  expect(poor.scheme.balances(await verify({}, poor))).toMatchObject(balances);
  await poor.stop();
});

interface CountingMirror {
  readonly url: string;
  count(): number;
  /** From now on requests are taken and not answered. */
  hang(on: boolean): void;
  /** From now on answers take so much longer. */
  delay(ms: number): void;
  stop(): Promise<void>;
}

/** The ledger's mirror behind a proxy that counts requests. */
async function countingMirror(target: string): Promise<CountingMirror> {
  let count = 0;
  let hanging = false;
  let delayMs = 0;
  const server = await startHttpServer(async (incoming, outgoing) => {
    count += 1;
    if (hanging) return;
    await elapse(delayMs, "how long the mirror takes to answer");
    const response = await fetch(`${target}${incoming.url}`);
    outgoing.writeHead(response.status, { "content-type": "application/json" });
    outgoing.end(await response.text());
  });
  return {
    url: server.url,
    count: () => count,
    hang: (on) => {
      hanging = on;
    },
    delay: (ms) => {
      delayMs = ms;
    },
    stop: server.stop,
  };
}
