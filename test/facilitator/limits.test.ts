import { createHash } from "node:crypto";
import { createTestClient, getAddress, type Hex, http, publicActions, walletActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { readConfig } from "../../facilitator/config.ts";
import { spentToday } from "../../facilitator/schemes/fee-budget.ts";
import { turningToken } from "../../infra/local-evm/artifacts.ts";
import { clientOf } from "../../shared/client-address.ts";
import { connect } from "../../shared/postgres.ts";
import { InMemoryCounts } from "../../shared/rate-limit.ts";
import { documented } from "../support/documented.ts";
import { type EvmSetting, untilOddBlock } from "../support/evm-facilitator.ts";
import { newBuyer, paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { chainTest } from "../support/fixtures.ts";
import { statements } from "../support/statements.ts";
import { hasValkey, Valkey } from "../support/valkey.ts";

const test = chainTest();

/** Two copies of the daemon on one database. */
async function twoCopies(setting: EvmSetting, variables: Record<string, string>) {
  const copies = await Promise.all([1, 2].map(() => startFacilitator({ ...setting.variables, ...variables })));
  return { copies, stop: () => Promise.all(copies.map((copy) => copy.stop())) };
}

test("an address that calls too often gets 429 with Retry-After, counted over copies", async ({ setting }) => {
  const { copies, stop } = await twoCopies(setting, { LIMIT_VERIFY_PER_ADDRESS: "10" });
  try {
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => copies[i % 2]?.verify(body)));
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(10);
    const refused = answers.find((answer) => answer?.status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused?.body).toMatchObject({ isValid: false, error: expect.stringContaining("address") });
    expect((await copies[0]?.settle(body))?.body).toMatchObject({ success: true });
  } finally {
    await stop();
  }
});

test.runIf(hasValkey)(
  "with a Valkey, calls are counted in it over copies and payers in PostgreSQL; without its answers payments settle and limits hold",
  async ({ setting }) => {
    const valkey = await Valkey.start();
    const { copies, stop } = await twoCopies(setting, {
      REDIS_URL: valkey.url,
      REDIS_TIMEOUT_MS: "2000",
      LIMIT_VERIFY_PER_ADDRESS: "10",
      LIMIT_SETTLE_PER_PAYER: "2",
    });
    try {
      await expect.poll(() => copies.every(({ context }) => context.valkey?.isShared)).toBe(true);
      const [buyer, other] = [await setting.fundedBuyer(), await setting.fundedBuyer()];
      const settle = async (n: number, from = buyer) => {
        const { body } = (await copies[n % 2]?.settle(await paymentBody(from, setting.terms))) ?? {};
        return body?.success === true ? "settled" : body?.errorReason;
      };
      expect(await settle(0)).toBe("settled");
      const body = await paymentBody(other, setting.terms);
      const verified = await Promise.all(Array.from({ length: 20 }, (_, n) => copies[n % 2]?.verify(body)));
      expect(verified.filter((answer) => answer?.status === 200)).toHaveLength(10);
      valkey.pause();
      expect([await settle(1), await settle(0), await settle(1)]).toEqual(["settled", "rate_limited", "rate_limited"]);
      // Each copy goes on from what it knows of all calls so far.
      const counted = await Promise.all(Array.from({ length: 4 }, () => copies[0]?.verify(body)));
      expect(counted.map((answer) => answer?.status)).toEqual([429, 429, 429, 429]);
      const health = async () => {
        await copies[0]?.verify(body);
        return fetch(`${copies[0]?.url}/health`).then((answer) => answer.json());
      };
      await expect.poll(health).toMatchObject({ counting: { store: "valkey", shared: false } });
      expect(await settle(0, other)).toBe("settled");
    } finally {
      await stop();
      await valkey.kill();
    }
  },
);

test("a known resource server has a limit of its own, over copies; its token lifts no payer's limit, and an unknown one is 401", async ({
  setting,
}) => {
  const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");
  const { copies, stop } = await twoCopies(setting, {
    LIMIT_VERIFY_PER_ADDRESS: "3",
    LIMIT_SETTLE_PER_PAYER: "2",
    FACILITATOR_CLIENTS: `shop:${sha256("shop-token")}:12,other:${sha256("t2")}:0`,
  });
  const ask = async (index: number, path: string, body: object, token?: string) => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(copies[index % 2]!.url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      body: (await response.json()) as { success: boolean },
    };
  };
  try {
    await copies[0]?.context.db.query("delete from call_counts");
    const buyer = await setting.fundedBuyer();
    const body = await paymentBody(buyer, setting.terms);
    const statuses = async (count: number, token?: string) =>
      (await Promise.all(Array.from({ length: count }, (_, i) => ask(i, "/verify", body, token)))).map(
        ({ status }) => status,
      );
    const count = (all: number[], status: number) => all.filter((one) => one === status).length;
    expect(count(await statuses(20, "shop-token"), 200)).toBe(12);
    const over = await ask(0, "/verify", body, "shop-token");
    expect(over).toMatchObject({ status: 429, body: { isValid: false, error: expect.stringContaining("client") } });
    expect(Number(over.retryAfter)).toBeGreaterThan(0);
    expect(count(await statuses(20, "t2"), 200)).toBe(20);
    // The address has still its own.
    expect(count(await statuses(6), 200)).toBe(3);
    for (const path of ["/verify", "/settle", "/release"]) {
      expect((await ask(0, path, body, "wrong")).status).toBe(401);
      expect((await ask(0, path, body, sha256("t2"))).status).toBe(401);
    }
    const bodies = await Promise.all([1, 2, 3].map(() => paymentBody(buyer, setting.terms)));
    const settled: Array<{ success: boolean; errorReason?: string }> = [];
    for (const one of bodies) settled.push((await ask(0, "/settle", one, "t2")).body);
    expect(settled.map(({ success }) => success)).toEqual([true, true, false]);
    expect(settled[2]?.errorReason).toBe("rate_limited");
  } finally {
    await stop();
  }
});

test("payments that nobody signed use up neither the named payer's nor the payee's limit", async ({ setting }) => {
  const { copies, stop } = await twoCopies(setting, { LIMIT_SETTLE_PER_PAYER: "2", LIMIT_SETTLE_PER_PAY_TO: "2" });
  try {
    const terms = { ...setting.terms, payTo: newBuyer().address };
    const buyer = await setting.fundedBuyer();
    const garbage = Array.from({ length: 6 }, async () => {
      const body = await paymentBody(buyer, terms);
      body.paymentPayload.payload.signature = `0x${"11".repeat(64)}1b`;
      return copies[0]?.settle(body);
    });
    for (const answer of await Promise.all(garbage)) {
      expect(answer?.body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_signature" });
    }
    expect((await copies[1]?.settle(await paymentBody(buyer, terms)))?.body).toMatchObject({ success: true });
  } finally {
    await stop();
  }
});

test.for([
  ["a token in clear", "shop:secret:10"],
  ["no limit", `shop:${"ab".repeat(32)}`],
  ["a client twice", `shop:${"ab".repeat(32)}:1,shop:${"cd".repeat(32)}:1`],
  ["a token twice", `shop:${"ab".repeat(32)}:1,other:${"AB".repeat(32)}:1`],
])("FACILITATOR_CLIENTS with %s keeps the daemon from starting, and is not quoted", ([_, value], { setting }) => {
  const start = () => readConfig({ ...setting.variables, FACILITATOR_CLIENTS: value });
  expect(start).toThrow("FACILITATOR_CLIENTS");
  expect(start).not.toThrow("secret");
});

test("an address that reads too often gets 429 with Retry-After on every public route; probes answer on, and payments", async ({
  setting,
}) => {
  const daemon = documented(await startFacilitator({ ...setting.variables, LIMIT_READ_PER_ADDRESS: "7" }));
  try {
    const reads = [
      "/supported",
      "/stats",
      "/transactions",
      `/payments/0x${"0".repeat(64)}`,
      "/discovery/resources",
      "/discovery/search?query=x",
      "/openapi.json",
    ];
    for (const path of reads) expect((await daemon.get(path)).status).not.toBe(429);
    for (const path of reads) {
      const { status, headers, body } = await daemon.get(path);
      expect(status).toBe(429);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
      expect(body).toEqual({ error: "Too many calls from this address." });
    }
    for (const path of ["/health", "/livez", "/readyz"]) expect((await daemon.get(path)).status).toBe(200);
    expect((await fetch(`${daemon.url}/metrics`)).status).toBe(200);
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    expect((await daemon.settle(body)).body).toMatchObject({ success: true });
  } finally {
    await daemon.stop();
  }
});

test("reads are counted by the minute and by caller, of whom no more than so many are remembered", () => {
  const counts = new InMemoryCounts();
  const at = (seconds: number, caller = "192.0.2.1") => {
    const { totalHits, resetTime } = counts.increment(caller, 1_000_000 + seconds * 1_000);
    return [totalHits, (resetTime.getTime() - 1_000_000) / 1_000 - seconds];
  };
  expect([at(0), at(1), at(20), at(59, "192.0.2.2")]).toEqual([
    [1, 60],
    [2, 59],
    [3, 40],
    [1, 1],
  ]);
  expect([at(60), at(60), at(119.5)]).toEqual([
    [1, 60],
    [2, 60],
    [3, 0.5],
  ]);
  for (let caller = 0; caller < 50_000; caller += 1) at(119.6, `caller ${caller}`);
  expect(at(119.75)).toEqual([1, 0.25]);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::7", "2001:db8:1:2::/64"],
  ["2001:db8:1:3::7", "2001:db8:1:3::/64"],
  ["fe80::1%eth0", "fe80::/64"],
  ["192.0.2.1:50123", "192.0.2.1"],
  ["[2001:db8:1:2::7]:50123", "2001:db8:1:2::/64"],
  ["[2001:db8:1:2::7]", "2001:db8:1:2::/64"],
  ["[::ffff:192.0.2.1]:443", "192.0.2.1"],
  ["", ""],
  ["not:an:address", "not:an:address"],
])("%s counts as %s", (address, caller) => {
  expect(clientOf(address)).toBe(caller);
});

test("a payer who settles too often is refused, over copies, without a claim; another payer is not", async ({
  setting,
}) => {
  const { copies, stop } = await twoCopies(setting, { LIMIT_SETTLE_PER_PAYER: "4" });
  try {
    const buyer = await setting.fundedBuyer();
    const bodies = await Promise.all(Array.from({ length: 10 }, () => paymentBody(buyer, setting.terms)));
    const answers = await Promise.all(bodies.map((body, i) => copies[i % 2]?.settle(body)));
    const settled = answers.filter((answer) => answer?.body.success);
    expect(settled).toHaveLength(4);
    const refused = answers.filter((answer) => !answer?.body.success);
    expect(new Set(refused.map((answer) => answer?.body.errorReason))).toEqual(new Set(["rate_limited"]));
    const other = await paymentBody(await setting.fundedBuyer(), setting.terms);
    expect((await copies[0]?.settle(other))?.body).toMatchObject({ success: true });
  } finally {
    await stop();
  }
});

test("a payer over its limit uses up nothing of what its payee is allowed", async ({ setting }) => {
  const { copies, stop } = await twoCopies(setting, { LIMIT_SETTLE_PER_PAYER: "3", LIMIT_SETTLE_PER_PAY_TO: "6" });
  try {
    const shop = { ...setting.terms, payTo: newBuyer().address };
    const attacker = await setting.fundedBuyer(1_000_000n);
    const bodies = await Promise.all(Array.from({ length: 10 }, () => paymentBody(attacker, shop)));
    const answers = await Promise.all(bodies.map((body, n) => copies[n % 2]!.settle(body)));
    expect(answers.filter(({ body }) => body.success)).toHaveLength(3);
    const again = await Promise.all(Array.from({ length: 20 }, (_, n) => copies[n % 2]!.settle(bodies[0]!)));
    expect(again.filter(({ body }) => body.success)).toHaveLength(0);
    const others = await Promise.all(Array.from({ length: 4 }, () => setting.fundedBuyer()));
    const sold = [];
    for (const buyer of others) sold.push((await copies[0]!.settle(await paymentBody(buyer, shop))).body);
    expect(sold.map(({ success }) => success)).toEqual([true, true, true, false]);
    expect(sold[3]).toMatchObject({ errorReason: "rate_limited", transaction: "" });
  } finally {
    await stop();
  }
});

test("strangers who pay a payee too often do not keep a resource server that the operator knows from settling for it", async ({
  setting,
}) => {
  const tokenHash = createHash("sha256").update("shop-token").digest("hex");
  const clients = `shop:${tokenHash}:0`;
  const { copies, stop } = await twoCopies(setting, { LIMIT_SETTLE_PER_PAY_TO: "2", FACILITATOR_CLIENTS: clients });
  const headers = { "content-type": "application/json", authorization: "Bearer shop-token" };
  try {
    const shop = { ...setting.terms, payTo: newBuyer().address };
    const buyer = await setting.fundedBuyer();
    const settleAsStranger = async (n: number) => (await copies[n % 2]!.settle(await paymentBody(buyer, shop))).body;
    const settleAsClient = async (n: number) => {
      const body = JSON.stringify(await paymentBody(buyer, shop));
      return (await fetch(`${copies[n % 2]!.url}/settle`, { method: "POST", headers, body })).json();
    };
    for (const success of [true, true, false]) expect(await settleAsStranger(1)).toMatchObject({ success });
    for (const success of [true, true, false]) expect(await settleAsClient(2)).toMatchObject({ success });
  } finally {
    await stop();
  }
});

test("a payer whose settlements keep failing at our cost is let cool down before more is spent on it", async ({
  setting,
}) => {
  const asset = await setting.chain.deploy(turningToken);
  const variables = { EIP155_84532_ASSETS: `${setting.chain.usdc},${asset}`, LIMIT_FAILURES_PER_PAYER: "3" };
  const daemon = await startFacilitator({ ...setting.variables, ...variables });
  try {
    const buyer = newBuyer();
    await setting.chain.mint(asset, buyer.address, 1_000_000n);
    const reasons: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      await untilOddBlock(setting.chain);
      const { body } = await daemon.settle(await paymentBody(buyer, { ...setting.terms, asset }));
      reasons.push(body.errorReason);
    }
    const failed = "invalid_transaction_state";
    expect(reasons).toEqual([failed, failed, failed, "rate_limited", "rate_limited"]);

    const stubborn = newBuyer();
    await setting.chain.mint(asset, stubborn.address, 1_000_000n);
    const same = await paymentBody(stubborn, { ...setting.terms, asset });
    const again: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      await untilOddBlock(setting.chain);
      again.push((await daemon.settle(same)).body.errorReason);
    }
    expect(again).toEqual([failed, failed, failed, "rate_limited", "rate_limited"]);
  } finally {
    await daemon.stop();
  }
});

test("the second half of a fee payer's budget of the day is kept for the resource servers that the operator knows, if there are any", async ({
  setting,
}) => {
  const tester = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(walletActions);
  const address = setting.signer as `0x${string}`;
  const budget = 10n ** 19n;
  const tokenHash = createHash("sha256").update("shop-token").digest("hex");
  const budgeted = { ...setting.variables, EIP155_84532_DAILY_BUDGET_WEI: String(budget) };
  const clients = { ...budgeted, FACILITATOR_CLIENTS: `shop:${tokenHash}:0` };
  await tester.setBalance({ address, value: 20n * budget });
  await (await startFacilitator(clients)).stop();
  await tester.setBalance({ address, value: 20n * budget - (6n * budget) / 10n });
  const post = async (url: string, body: object, headers: object) => {
    const answer = await fetch(`${url}/settle`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), body: await answer.json() };
  };
  const daemon = await startFacilitator(clients);
  try {
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    expect(await post(daemon.url, body, {})).toMatchObject({
      status: 503,
      retryAfter: "600",
      body: { success: false },
    });
    expect(await daemon.verify(body)).toMatchObject({ status: 503, body: { isValid: false } });
    const known = { authorization: "Bearer shop-token" };
    expect(await post(daemon.url, body, known)).toMatchObject({ status: 200, body: { success: true } });
  } finally {
    await daemon.stop();
  }
  const open = await startFacilitator(budgeted);
  try {
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    expect(await open.settle(body)).toMatchObject({ status: 200, body: { success: true } });
  } finally {
    await open.stop();
  }
});

test("strangers' payments are sent by a fee payer whose budget is not kept for known resource servers, while there is one", async ({
  setting,
}) => {
  const tester = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);
  const [kept, open] = [generatePrivateKey(), generatePrivateKey()];
  const addressOf = (key: Hex) => privateKeyToAccount(key).address;
  const budget = 10n ** 19n;
  for (const key of [kept, open]) await tester.setBalance({ address: addressOf(key), value: 20n * budget });
  const variables = {
    ...setting.variables,
    EIP155_84532_SIGNERS: `${kept},${open}`,
    EIP155_84532_DAILY_BUDGET_WEI: String(budget),
    FACILITATOR_CLIENTS: `shop:${createHash("sha256").update("shop-token").digest("hex")}:0`,
  };
  await (await startFacilitator(variables)).stop();
  await tester.setBalance({ address: addressOf(kept), value: 20n * budget - (6n * budget) / 10n });
  const daemon = await startFacilitator(variables);
  const sentBy = async (more: object) => {
    const body = JSON.stringify(await paymentBody(await setting.fundedBuyer(), setting.terms));
    const headers = { "content-type": "application/json", ...more };
    const { success, transaction } = await (
      await fetch(`${daemon.url}/settle`, { method: "POST", headers, body })
    ).json();
    expect(success).toBe(true);
    return getAddress((await tester.getTransaction({ hash: transaction })).from);
  };
  try {
    const { chains } = (await daemon.get("/health")).body;
    expect(chains).toHaveLength(2);
    for (let n = 0; n < 3; n += 1) expect(await sentBy({})).toBe(addressOf(open));
    const known = { authorization: "Bearer shop-token" };
    expect([addressOf(kept), addressOf(open)]).toContain(await sentBy(known));
    const together = await Promise.all(Array.from({ length: 10 }, () => sentBy({})));
    expect(new Set(together)).toEqual(new Set([addressOf(open)]));
  } finally {
    await daemon.stop();
  }
});

test("a fee payer that has spent its day's budget settles nothing more", async ({ setting }) => {
  const tester = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(walletActions);
  const address = setting.signer as `0x${string}`;
  const variables = { ...setting.variables, EIP155_84532_DAILY_BUDGET_WEI: String(10n ** 15n) };
  const first = await startFacilitator(variables);
  await first.stop();
  await tester.setBalance({ address, value: 10n ** 18n });
  const second = await startFacilitator(variables);
  try {
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    expect(await second.settle(body)).toMatchObject({ status: 503, body: { success: false } });
    expect(await second.verify(body)).toMatchObject({ status: 503, body: { isValid: false } });
  } finally {
    await second.stop();
  }
});

test("spending is what the balance fell by; money added is not set off against it", async ({ setting }) => {
  const db = connect(setting.variables.FACILITATOR_DATABASE_URL as string, {
    poolMax: 1,
    statements,
    applicationName: "test",
  });
  try {
    const spent: bigint[] = [];
    for (const [index, balance] of [100n, 90n, 150n, 149n, 149n].entries()) {
      spent.push(await spentToday(db, "eip155:1", "0xF", { balance, asOf: BigInt(index) }));
    }
    expect(spent).toEqual([0n, 10n, 10n, 11n, 11n]);
  } finally {
    await db.end();
  }
});

test("a top-up that one daemon has seen and another has not yet is no spending, be it midnight meanwhile", async ({
  setting,
}) => {
  const db = connect(setting.variables.FACILITATOR_DATABASE_URL as string, {
    poolMax: 1,
    statements,
    applicationName: "test",
  });
  const read = (balance: bigint, asOf: bigint) => spentToday(db, "eip155:1", "0xA", { balance, asOf });
  try {
    const [poor, rich] = [10n ** 15n, 10n ** 18n];
    for (const [balance, asOf] of [
      [poor, 7n],
      [rich, 9n],
      [poor, 8n],
      [rich, 10n],
      [poor, 7n],
    ] as const) {
      expect(await read(balance, asOf)).toBe(0n);
    }
    expect(await read(rich - 5n, 11n)).toBe(5n);
    // A daemon that was far behind reports before the first of the new day that is up to date.
    await db.query("update fee_spending set day = day - 1 where fee_payer = '0xA'");
    expect(await read(rich, 10n)).toBe(0n);
    expect(await read(poor, 7n)).toBe(0n);
    expect(await read(rich - 8n, 12n)).toBe(3n);
    expect(await read(2n * rich, 13n)).toBe(3n);
    expect(await read(2n * rich - 1n, 14n)).toBe(4n);
  } finally {
    await db.end();
  }
});

test("what was held for a settlement that cannot be counted is given up at once", async ({ setting }) => {
  for (const limit of ["LIMIT_SETTLE_PER_PAYER", "LIMIT_SETTLE_PER_PAY_TO"]) {
    const limits = { LIMIT_SETTLE_PER_ADDRESS: "0", LIMIT_SETTLE_PER_PAYER: "0", LIMIT_SETTLE_PER_PAY_TO: "0" };
    const daemon = await startFacilitator({ ...setting.variables, ...limits, [limit]: "5" });
    const { db } = daemon.context;
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    const { from } = body.paymentPayload.payload.authorization;
    try {
      await db.query("alter table call_counts rename to mislaid_counts");
      expect((await daemon.settle(body)).status).toBe(500);
      expect((await db.query("select from payment_holds where payer = $1 and until > now()", [from])).rowCount).toBe(0);
      await db.query("alter table mislaid_counts rename to call_counts");
      expect((await daemon.settle(body)).body).toMatchObject({ success: true });
    } finally {
      await db.query("alter table if exists mislaid_counts rename to call_counts");
      await daemon.stop();
    }
  }
});
