import { PrivateKey } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { ledgerTest } from "../../support/fixtures.ts";
import type { OpenLedger } from "./sdk.ts";

const test = ledgerTest();

test.afterEach(({ on }) => on.ledger.faults.clear());

const ask = async (
  on: OpenLedger,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(`${on.ledger.adminUrl}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe("the control server", () => {
  test("says what it can do, naming every switch", async ({ on }) => {
    const { status, body } = await ask(on, "GET", "/");
    expect(status).toBe(200);
    for (const name of [
      "busy",
      "unavailable",
      "dropReply",
      "loseTx",
      "throttleAtConsensus",
      "delayMs",
      "mirrorLagMs",
    ]) {
      expect(JSON.stringify(body)).toContain(`"${name}":`);
    }
  });

  test("sets faults, for all nodes or one, shows them, and clears them", async ({ on }) => {
    expect(await ask(on, "POST", "/faults", { busy: 1, mirrorLagMs: 50 })).toMatchObject({
      status: 200,
      body: { busy: 1 },
    });
    await ask(on, "POST", "/faults", { loseTx: 2, node: "0.0.4" });
    expect((await ask(on, "GET", "/faults")).body).toMatchObject({ busy: 1, "loseTx@0.0.4": 2, mirrorLagMs: 50 });
    expect(await on.settle(on.payment(1), on.keys.buyer)).toBe("SUCCESS");
    expect((await ask(on, "GET", "/faults")).body).not.toHaveProperty("busy");
    expect((await ask(on, "DELETE", "/faults")).body).toMatchObject({ mirrorLagMs: 0 });
    expect((await ask(on, "GET", "/faults")).body).not.toHaveProperty("loseTx@0.0.4");
  });

  test.for([
    [{ slow: 1 }, "slow"],
    [{ busy: -1 }, "busy"],
    [{ busy: "2" }, "busy"],
    [{ busy: 1.5 }, "busy"],
    [{ busy: 1, node: "0.0.9" }, "node"],
    ["{", "body"],
    [[1], "body"],
  ] as const)("answers 400 for faults %j, naming %s, and sets nothing", async ([body, field], { on }) => {
    const before = on.ledger.faults.current();
    const answer = await ask(on, "POST", "/faults", body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(new RegExp(`^${field}: `));
    expect(on.ledger.faults.current()).toEqual(before);
  });

  test("is not for web pages, and not for other names of this machine", async ({ on }) => {
    expect((await ask(on, "POST", "/faults", { busy: 1 }, { "content-type": "text/plain" })).status).toBe(415);
    expect((await ask(on, "POST", "/faults", { busy: 1 }, { origin: "http://evil.example" })).status).toBe(403);
    expect((await ask(on, "GET", "/nowhere")).status).toBe(404);
    expect((await ask(on, "POST", "/faults", "x".repeat(70_000))).status).toBe(413);
    expect(on.ledger.faults.current()).not.toHaveProperty("busy");
  });
});

describe("the faucet", () => {
  test.for([
    ["ed25519, raw", PrivateKey.generateED25519(), "toStringRaw"],
    ["ed25519, DER", PrivateKey.generateED25519(), "toStringDer"],
    ["ECDSA, raw", PrivateKey.generateECDSA(), "toStringRaw"],
    ["ECDSA, DER", PrivateKey.generateECDSA(), "toStringDer"],
  ] as const)("makes an account for a public key (%s) that can pay at once", async ([_, key, form], { on }) => {
    const { status, body } = await ask(on, "POST", "/accounts", {
      publicKey: key.publicKey[form](),
      hbar: "1.5",
      associate: [on.ledger.usdc],
    });
    expect(status).toBe(200);
    const account = body.accountId as string;
    expect(await on.hbarBalance(account)).toBe(150_000_000n);
    expect((await ask(on, "POST", "/faucet", { account, amount: 500 })).status).toBe(200);
    expect(await on.settle(on.payment(500, { from: account }), key)).toBe("SUCCESS");
  });

  test("gives HBAR, and tokens to those who have associated them or wish to", async ({ on }) => {
    const publicKey = PrivateKey.generateED25519().publicKey.toStringRaw();
    const account = (await ask(on, "POST", "/accounts", { publicKey })).body.accountId as string;
    await ask(on, "POST", "/faucet", { account, hbar: 2 });
    expect(await on.hbarBalance(account)).toBe(200_000_000n);
    expect(await ask(on, "POST", "/faucet", { account, amount: "7" })).toMatchObject({
      status: 400,
      body: { error: `account: ${account} is not associated with 0.0.429274` },
    });
    expect((await ask(on, "POST", "/faucet", { account, amount: "7", associate: true })).status).toBe(200);
    expect(await on.tokenBalance(account)).toBe(7);
  });

  test("gives all that was asked for or nothing", async ({ on }) => {
    const before = await on.hbarBalance("0.0.1001");
    expect((await ask(on, "POST", "/faucet", { account: "0.0.1001", hbar: 1, amount: 1 })).status).toBe(400);
    expect(await on.hbarBalance("0.0.1001")).toBe(before);
  });

  test("raises the supply by what it gives", async ({ on }) => {
    const supply = async () => BigInt((await on.mirror(`tokens/${on.ledger.usdc}`)).total_supply);
    const before = await supply();
    on.ledger.faucet.giveToken("0.0.1003", 25n);
    expect(await supply()).toBe(before + 25n);
  });

  test.for([
    ["/accounts", { publicKey: "zz" }, "publicKey"],
    ["/accounts", {}, "publicKey"],
    ["/accounts", { publicKey: "ab".repeat(32), hbar: -1 }, "hbar"],
    ["/accounts", { publicKey: "ab".repeat(32), hbar: 1e12 }, "hbar"],
    ["/accounts", { publicKey: "ab".repeat(32), associate: ["0.0.999999"] }, "token"],
    ["/accounts", { publicKey: "ab".repeat(32), owner: "me" }, "owner"],
    ["/faucet", { account: "0.0.999999", hbar: 1 }, "account"],
    ["/faucet", { account: 1003, hbar: 1 }, "account"],
    ["/faucet", { account: "0.0.1003" }, "hbar or amount"],
    ["/faucet", { account: "0.0.1003", hbar: "0.123456789" }, "hbar"],
    ["/faucet", { account: "0.0.1003", amount: 1.5 }, "amount"],
    ["/faucet", { account: "0.0.1003", amount: 0 }, "amount"],
    ["/faucet", { account: "0.0.1003", amount: 1, token: "0.0.5" }, "token"],
    ["/faucet", { account: "0.0.1003", hbar: 1, amount: "999999999999999", token: "0.0.429275" }, "token"],
  ] as const)("answers 400 for %s %j, naming %s", async ([path, body, field], { on }) => {
    const answer = await ask(on, "POST", path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(new RegExp(`^${field}: `));
  });
});
