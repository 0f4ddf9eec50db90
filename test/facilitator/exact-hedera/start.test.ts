import { PrivateKey } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { readSigner } from "../../../facilitator/schemes/exact-hedera/signer.ts";
import { NetworkAwayError } from "../../../facilitator/schemes/scheme.ts";
import { ConfigError, Secret } from "../../../shared/env.ts";
import { createLog, type Log } from "../../../shared/log.ts";
import { usdc } from "./payloads.ts";
import { type HederaSetting, hederaSchemeTest, price, settingOn, settled, verified } from "./setting.ts";

const test = hederaSchemeTest();

const problemsWith = async (
  setting: HederaSetting,
  change: Parameters<typeof settingOn>[1],
): Promise<readonly string[]> => {
  const faulty = await settingOn(setting.ledger, change);
  try {
    await faulty.scheme.start();
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  } finally {
    await faulty.stop();
  }
};

describe("the scheme starts", () => {
  test("on a ledger that agrees with its configuration, and then knows its balance", async ({ setting }) => {
    const good = await settingOn(setting.ledger);
    await good.scheme.start();
    expect(good.scheme.balances()).toEqual([
      {
        feePayer: "0.0.1001",
        balance: 1_000_000_000_000n,
        unit: "HBAR",
        decimals: 8,
        low: false,
        empty: false,
        keptForClients: false,
        signs: true,
        leased: true,
      },
    ]);
    await good.stop();
  });

  test("with an ECDSA fee payer, which then settles", async ({ setting }) => {
    const key = PrivateKey.generateECDSA();
    const { accountId } = setting.ledger.faucet.createAccount({
      publicKey: key.publicKey.toStringRaw(),
      tinybars: 10n ** 9n,
    });
    const feePayers = [{ accountId, privateKey: new Secret(`ecdsa:${key.toStringRaw()}`) }];
    const ecdsa = await settingOn(setting.ledger, { feePayers });
    await ecdsa.scheme.start();
    expect(await settled(ecdsa, await ecdsa.pay({ feePayer: accountId, amount: price }))).toMatchObject({
      outcome: "settled",
    });
    await ecdsa.stop();
  });

  test("with a fee payer whose public key a stranger gave an account: it says so, settles, and takes nothing from that one", async ({
    setting: { ledger },
  }) => {
    const { accountId: other } = ledger.faucet.createAccount({
      publicKey: ledger.accounts.feePayer.publicKey,
      associate: [usdc],
    });
    ledger.faucet.giveToken(other, price);
    const { log, lines } = listening("error");
    const shared = await settingOn(ledger, {}, log);
    await shared.scheme.start();
    expect(lines).toEqual([expect.objectContaining({ level: "error", account: "0.0.1001", others: [other] })]);
    expect(await settled(shared, await shared.pay())).toMatchObject({ outcome: "settled" });
    const unsigned = await shared.pay({ payer: other, keys: [PrivateKey.generateED25519()] });
    await expect(verified(shared.scheme, unsigned)).rejects.toThrow("signature_invalid");
    await shared.stop();
  });

  test("with a node among the configured ones that the network has not any more, and says so", async ({
    setting: { ledger },
  }) => {
    const { log, lines } = listening("warn");
    const old = await settingOn(ledger, { nodes: { ...ledger.nodes, "127.0.0.1:1": "0.0.99" } }, log);
    await old.scheme.start();
    expect(lines).toContainEqual(expect.objectContaining({ level: "warn", missing: ["0.0.99"] }));
    expect(await settled(old, await old.pay())).toMatchObject({ outcome: "settled" });
    await old.stop();
  });
});

function listening(level: string): { readonly log: Log; readonly lines: unknown[] } {
  const lines: unknown[] = [];
  return { log: createLog("test", level, { write: (line) => void lines.push(JSON.parse(line)) }), lines };
}

describe("the scheme refuses to start, naming every problem at once", () => {
  test("with everything wrong", async ({ setting }) => {
    const { buyer } = setting.ledger.accounts;
    const stranger = PrivateKey.generateED25519();
    const problems = await problemsWith(setting, {
      feePayers: [
        { accountId: "0.0.1001", privateKey: new Secret(`ed25519:${stranger.toStringRaw()}`) },
        { accountId: "0.0.987654", privateKey: new Secret(`ed25519:${stranger.toStringRaw()}`) },
        { accountId: buyer.accountId, privateKey: new Secret(buyer.privateKeyHex) },
      ],
      nodes: { "127.0.0.1:1": "0.0.99", "127.0.0.1:2": "0.0.98" },
      assets: ["0.0.429274", "0.0.4242"],
    });
    expect(problems).toEqual([
      expect.stringContaining(`fee payer 0.0.1001: the key given is for ed25519 ${stranger.publicKey.toStringRaw()}`),
      "fee payer 0.0.987654 does not exist on hedera:testnet",
      expect.stringMatching(/^fee payer 0\.0\.1003: raw hex fits two kinds of key/),
      "hedera:testnet has no consensus node 0.0.99",
      "hedera:testnet has no consensus node 0.0.98",
      "hedera:testnet has no token 0.0.4242",
    ]);
    expect(problems.join()).not.toContain(buyer.privateKeyHex);
  });

  test("with the right bytes as the wrong kind of key", async ({ setting }) => {
    const { feePayer } = setting.ledger.accounts;
    const feePayers = [{ accountId: feePayer.accountId, privateKey: new Secret(`ecdsa:${feePayer.privateKeyHex}`) }];
    expect(await problemsWith(setting, { feePayers })).toEqual([
      expect.stringMatching(/the key given is for ecdsa [0-9a-f]+, the account's key is ed25519 [0-9a-f]+$/),
    ]);
  });
});

test("without a mirror nothing can be said of the configuration: the scheme may be started again", async ({
  setting,
}) => {
  const early = await settingOn(setting.ledger, { mirrorUrl: "http://127.0.0.1:1" });
  await expect(early.scheme.start()).rejects.toThrow(NetworkAwayError);
  await expect(early.scheme.start()).rejects.toThrow("the mirror");
  await early.stop();
});

test("what is offered is the same for every call and comes from configuration alone", ({ setting }) => {
  const extra = { feePayer: "0.0.1001", assetTransferMethods: ["cryptoTransfer"] };
  expect(setting.scheme.kinds).toEqual([
    { x402Version: 2, scheme: "exact", network: "hedera:testnet", extra },
    { x402Version: 1, scheme: "exact", network: "hedera:testnet", extra },
    { x402Version: 1, scheme: "exact", network: "hedera-testnet", extra },
  ]);
});

describe("private keys", () => {
  const ed25519 = PrivateKey.generateED25519();
  const ecdsa = PrivateKey.generateECDSA();
  const sec1 = `30740201010420${ecdsa.toStringRaw()}a00706052b8104000aa144034200${ecdsa.publicKey.toStringRaw().padEnd(130, "0")}`;

  test.each([
    ["ed25519:<hex>", `ed25519:${ed25519.toStringRaw()}`, ed25519],
    ["0x-prefixed", `ecdsa:0x${ecdsa.toStringRaw()}`, ecdsa],
    ["ecdsa:<hex>", `ecdsa:${ecdsa.toStringRaw()}`, ecdsa],
    ["ed25519 DER", ed25519.toStringDer(), ed25519],
    ["ECDSA DER", ecdsa.toStringDer(), ecdsa],
    ["ECDSA SEC1 DER", sec1, ecdsa],
  ])("%s is read, and signs as the SDK does", async (_form, text, key) => {
    const signer = readSigner(text);
    expect((await signer.publicKey()).toString("hex")).toBe(key.publicKey.toStringRaw());
    const bytes = Buffer.from("a body");
    expect(key.publicKey.verify(bytes, (await signer.sign(bytes)).signature)).toBe(true);
  });

  test.each([
    ["raw hex", ed25519.toStringRaw()],
    ["too short", "ed25519:abcd"],
    ["odd", `ed25519:${"a".repeat(63)}`],
    ["of neither kind", `rsa:${ed25519.toStringRaw()}`],
    ["DER of the other kind", `ecdsa:${ed25519.toStringDer()}`],
    ["zero", `ecdsa:${"0".repeat(64)}`],
    ["nothing", ""],
  ])("%s is refused without being quoted", (_form, text) => {
    const hex = text.split(":").at(-1) || "nothing";
    expect(() => readSigner(text)).toThrow(/key/);
    expect(() => readSigner(text)).not.toThrow(hex);
  });
});
