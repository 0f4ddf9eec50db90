import { connect } from "node:net";
import {
  createPublicClient,
  createTestClient,
  formatUnits,
  type Hex,
  http,
  type PublicClient,
  walletActions,
} from "viem";
import { describe, expect, vi } from "vitest";
import type { SettlementStore } from "../../../facilitator/settlements/store.ts";
import { feeOnTransferToken, ownerWallet, silentToken, usdcStandIn } from "../../../infra/local-evm/artifacts.ts";
import { edited } from "../../support/edit.ts";
import { elapse } from "../../support/elapse.ts";
import { type EvmSetting, evmSetting } from "../../support/evm-facilitator.ts";
import { asV1, newBuyer, paymentBody } from "../../support/evm-payments.ts";
import { spawnFacilitator, startFacilitator } from "../../support/facilitator.ts";
import { chainTest } from "../../support/fixtures.ts";
import { lapseAll } from "../../support/lapse.ts";
import { kept, perFile } from "../../support/part.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";

const test = chainTest()
  .extend("proxy", perFile, ({ setting }, { onCleanup }) => kept(startRpcProxy(setting.chain.rpcUrl), onCleanup))
  .extend("tokens", perFile, async ({ setting: { chain } }) => ({
    feeOnTransfer: await chain.deploy(feeOnTransferToken),
    silent: await chain.deploy(silentToken),
  }))
  .extend("proxied", perFile, ({ setting, proxy, tokens }) =>
    Object.assign(setting.variables, {
      EIP155_84532_ASSETS: [setting.chain.usdc, ...Object.values(tokens)].join(","),
      EIP155_84532_RPC_URL: proxy.url,
    }),
  )
  .extend("facilitator", perFile, ({ proxied }, { onCleanup }) => kept(startFacilitator(proxied), onCleanup))
  // Waits for a chain that says nothing no longer than it must.
  .extend("impatient", perFile, ({ proxied }, { onCleanup }) =>
    kept(startFacilitator({ ...proxied, SETTLE_TIMEOUT_MS: "6000" }), onCleanup),
  )
  .extend("client", perFile, ({ setting }) => createPublicClient({ transport: http(setting.chain.rpcUrl) }));

test.afterEach(({ proxy }) => proxy.behave(() => "pass"));

const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);
const sent = (setting: EvmSetting, client: PublicClient) =>
  client.getTransactionCount({ address: setting.signer as `0x${string}` });
const balanceOf = (setting: EvmSetting, client: PublicClient, owner: string) =>
  client.readContract({
    address: setting.chain.usdc,
    abi: usdcStandIn.abi,
    functionName: "balanceOf",
    args: [owner as `0x${string}`],
  });

describe("a payment", () => {
  test("settles once: the money moves, and every later copy is told of the first transaction", async ({
    setting,
    facilitator,
    client,
  }) => {
    const before = await balanceOf(setting, client, setting.terms.payTo);
    const body = await pay(setting);
    const payer = body.paymentPayload.payload.authorization.from;
    const first = await facilitator.settle(body);
    expect(first.body).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: "eip155:84532",
      payer,
    });
    expect(await balanceOf(setting, client, setting.terms.payTo)).toBe((before as bigint) + 10_000n);
    const { transaction } = first.body;
    expect((await facilitator.settle(body)).body).toMatchObject({
      success: false,
      errorReason: "already_settled",
      transaction,
      payer,
    });
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: false, invalidReason: "already_settled" });
  });

  test("settles in version 1 with the network named as the caller named it", async ({ setting, facilitator }) => {
    const { body } = await facilitator.settle(asV1(await pay(setting)));
    expect(body).toMatchObject({ success: true, network: "base-sepolia" });
  });

  test("of a contract wallet settles through the wallet's own signature check", async ({ setting, facilitator }) => {
    const owner = newBuyer();
    const wallet = await setting.chain.deploy(ownerWallet, [owner.address]);
    await setting.chain.fund(wallet, { usdc: 20_000n });
    const { body } = await facilitator.settle(await paymentBody(owner, setting.terms, { from: wallet }));
    expect(body).toMatchObject({ success: true, payer: wallet });
  });

  test("re-encoded in every way one can think of is still one payment", async ({ setting, facilitator, client }) => {
    const body = await pay(setting);
    const { signature, authorization } = body.paymentPayload.payload;
    const edited = (change: (copy: typeof body) => void) => {
      const copy = structuredClone(body);
      change(copy);
      return copy;
    };
    const copies = [
      body,
      edited((copy) => {
        copy.paymentPayload.payload.signature = `0x${signature.slice(2).toUpperCase()}`;
      }),
      edited((copy) => {
        const v = Number.parseInt(signature.slice(-2), 16) - 27;
        copy.paymentPayload.payload.signature = `${signature.slice(0, -2)}0${v}` as `0x${string}`;
      }),
      edited((copy) => {
        copy.paymentPayload.payload.authorization = Object.fromEntries(
          Object.entries(authorization).toReversed(),
        ) as typeof authorization;
      }),
      edited((copy) => {
        copy.paymentPayload.payload.authorization.nonce = `0x${authorization.nonce.slice(2).toUpperCase()}`;
        copy.paymentPayload.payload.authorization.from = authorization.from.toLowerCase() as `0x${string}`;
      }),
      edited((copy) => {
        copy.paymentPayload.resource.url = "https://elsewhere.example.com/";
      }),
      asV1(body),
      asV1(body, "eip155:84532"),
    ];
    const before = await sent(setting, client);
    const answers = await Promise.all(copies.map((copy) => facilitator.settle(copy)));
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.transaction)).size).toBe(1);
    expect(await sent(setting, client)).toBe(before + 1);
  });
});

test("who borrows a settled payment's nonce for a dearer payment is not told that it was settled", async ({
  setting,
  facilitator,
}) => {
  const body = await pay(setting);
  expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
  const forged = edited(body, {
    "paymentRequirements.amount": "9000000",
    "paymentPayload.accepted.amount": "9000000",
    "paymentPayload.payload.authorization.value": "9000000",
  });
  const verified = await facilitator.verify(forged);
  expect(verified.body).toMatchObject({ isValid: false, invalidReason: "invalid_transaction_state" });
  expect((await facilitator.settle(forged)).body).toMatchObject({
    success: false,
    errorReason: "invalid_transaction_state",
    transaction: "",
  });
});

test("a fee payer without gas money is 503 at /settle and /verify, claims nothing, and /health says so", async () => {
  const poor = await evmSetting({ FACILITATOR_DATABASE_URL: await freshDatabase("facilitator") });
  poor.variables.EIP155_84532_BALANCE_EMPTY_WEI = String(11n * 10n ** 18n);
  poor.variables.EIP155_84532_BALANCE_LOW_WEI = String(12n * 10n ** 18n);
  const daemon = await startFacilitator(poor.variables);
  try {
    const body = await paymentBody(await poor.fundedBuyer(), poor.terms);
    const refused = { status: 503, body: { error: expect.stringContaining("eip155:84532"), network: "eip155:84532" } };
    for (const answer of [await daemon.settle(body), await daemon.verify(body)]) {
      expect(answer).toMatchObject(refused);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect((await daemon.context.db.query("select from payments")).rowCount).toBe(0);
    const chains = [{ network: "eip155:84532", lowBalance: true, empty: true, settling: false }];
    expect(await daemon.get("/health")).toMatchObject({ status: 503, body: { chains } });
    // Every copy's fee payer is as empty: a balancer without copies could tell nobody what became of payments.
    const readiness = { ready: true, networks: { "eip155:84532": false } };
    expect(await daemon.get("/readyz")).toMatchObject({ status: 200, body: readiness });
    expect(await daemon.get("/livez")).toMatchObject({ status: 200, body: { status: "ok" } });
  } finally {
    await daemon.stop();
    await poor.stop();
  }
});

test("fifty distinct payments at once all settle, with one transaction each", async ({
  setting,
  facilitator,
  client,
}) => {
  const bodies = await Promise.all(Array.from({ length: 50 }, () => pay(setting)));
  const before = await sent(setting, client);
  const answers = await Promise.all(bodies.map((body) => facilitator.settle(body)));
  expect(answers.filter(({ body }) => !body.success)).toEqual([]);
  expect(await sent(setting, client)).toBe(before + 50);
});

test("one payment sent fifty times at once to two daemons on one database succeeds once, in one transaction", async ({
  setting,
  client,
}) => {
  const daemons = await Promise.all([spawnFacilitator(setting.variables), spawnFacilitator(setting.variables)]);
  try {
    const body = await pay(setting);
    const before = await sent(setting, client);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => daemons[i % 2]?.settle(body)));
    const reasons = answers.map((answer) => (answer?.body.success ? "success" : answer?.body.errorReason)).toSorted();
    expect(reasons).toEqual([...Array(49).fill("already_settled"), "success"]);
    expect(new Set(answers.map((answer) => answer?.body.transaction)).size).toBe(1);
    expect(await sent(setting, client)).toBe(before + 1);
  } finally {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
  }
});

test("two daemons that share one signer settle forty distinct payments without a gap in its nonces", async ({
  setting,
  client,
}) => {
  const daemons = await Promise.all([spawnFacilitator(setting.variables), spawnFacilitator(setting.variables)]);
  try {
    const bodies = await Promise.all(Array.from({ length: 40 }, () => pay(setting)));
    const before = await sent(setting, client);
    const answers = await Promise.all(bodies.map((body, i) => daemons[i % 2]!.settle(body)));
    expect(answers.filter(({ body }) => !body.success)).toEqual([]);
    expect(await sent(setting, client)).toBe(before + 40);
  } finally {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
  }
});

describe("when the node loses things", () => {
  test("an outcome nobody saw is pending with its hash; the retry succeeds, once, without a second transaction", async ({
    setting,
    proxy,
    facilitator,
    impatient,
    client,
  }) => {
    const body = await pay(setting);
    const before = await sent(setting, client);
    proxy.behave((method) => (method === "eth_getTransactionReceipt" ? "lose-answer" : "pass"));
    const { body: pending, status } = await impatient.settle(body);
    expect(status).toBe(200);
    expect(pending).toMatchObject({
      success: false,
      errorReason: "settlement_pending",
      transaction: expect.stringMatching(/^0x/),
    });
    proxy.behave(() => "pass");
    await lapseAll(facilitator.context.db);
    await expect.poll(async () => (await facilitator.verify(body)).body.invalidReason).toBe("already_settled");
    const retries = await Promise.all([facilitator.settle(body), facilitator.settle(body)]);
    const reasons = retries.map(({ body }) => (body.success ? "success" : body.errorReason)).toSorted();
    expect(reasons).toEqual(["already_settled", "success"]);
    expect(retries.map(({ body }) => body.transaction)).toEqual([pending.transaction, pending.transaction]);
    expect(await sent(setting, client)).toBe(before + 1);
  });

  test("a transaction the node took but did not acknowledge is one settlement", async ({
    setting,
    proxy,
    facilitator,
    client,
  }) => {
    proxy.behave((method) => (method === "eth_sendRawTransaction" ? "lose-answer" : "pass"));
    const before = await sent(setting, client);
    expect((await facilitator.settle(await pay(setting))).body).toMatchObject({ success: true });
    expect(await sent(setting, client)).toBe(before + 1);
  });

  test("a transaction that never reached the node is sent again, the same one, and settles", async ({
    setting,
    proxy,
    facilitator,
    impatient,
    client,
  }) => {
    const body = await pay(setting);
    const before = await sent(setting, client);
    proxy.behave((method) => (method === "eth_sendRawTransaction" ? "lose-call" : "pass"));
    const { body: pending } = await impatient.settle(body);
    expect(pending).toMatchObject({ errorReason: "settlement_pending" });
    expect(await sent(setting, client)).toBe(before);
    proxy.behave(() => "pass");
    await lapseAll(facilitator.context.db);
    await expect
      .poll(async () => (await facilitator.settle(body)).body, { interval: 200 })
      .toMatchObject({
        success: true,
        transaction: pending.transaction,
      });
    expect(await sent(setting, client)).toBe(before + 1);
  });

  test("a chain that cannot be asked refuses the payment, claims nothing, and says try again", async ({
    setting,
    proxy,
    facilitator,
  }) => {
    const body = await pay(setting);
    proxy.behave(() => "lose-call");
    const { body: refused } = await facilitator.verify(body);
    expect(refused).toMatchObject({
      isValid: false,
      invalidReason: "unexpected_verify_error",
      invalidMessage: expect.stringContaining("try again"),
    });
    expect((await facilitator.settle(body)).body).toMatchObject({ success: false, transaction: "" });
    proxy.behave(() => "pass");
    expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
  });
});

test("kill -9 right after the transaction was sent: the next start finishes it, and it settles once", async ({
  setting,
  proxy,
  facilitator,
  client,
}) => {
  const daemon = await spawnFacilitator(setting.variables);
  const body = await pay(setting);
  const before = await sent(setting, client);
  const sends = proxy.counts.get("eth_sendRawTransaction") ?? 0;
  proxy.behave((method) =>
    ["eth_sendRawTransaction", "eth_getTransactionReceipt"].includes(method) ? "lose-answer" : "pass",
  );
  const lost = daemon.settle(body).catch((error: Error) => error);
  await expect.poll(() => proxy.counts.get("eth_sendRawTransaction") ?? 0, { interval: 5 }).toBeGreaterThan(sends);
  daemon.process.kill("SIGKILL");
  expect(await lost).toBeInstanceOf(Error);
  proxy.behave(() => "pass");
  await lapseAll(facilitator.context.db);

  const next = await spawnFacilitator(setting.variables);
  try {
    await expect.poll(async () => (await next.verify(body)).body.invalidReason).toBe("already_settled");
    const { body: found } = await next.settle(body);
    expect(found).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    expect((await next.settle(body)).body).toMatchObject({
      errorReason: "already_settled",
      transaction: found.transaction,
    });
    expect(await sent(setting, client)).toBe(before + 1);
  } finally {
    await next.stop();
  }
});

describe("tokens that cheat", () => {
  test.for(["feeOnTransfer", "silent"] as const)(
    "%s: a mined transfer that is not the agreed one is no success",
    async (name, { setting, facilitator, tokens }) => {
      const buyer = newBuyer();
      const asset = tokens[name];
      await setting.chain.mint(asset as `0x${string}`, buyer.address, 1_000_000n);
      const { body } = await facilitator.settle(await paymentBody(buyer, { ...setting.terms, asset }));
      expect(body).toMatchObject({
        success: false,
        errorReason: "invalid_exact_evm_transfer_event_mismatch",
        transaction: expect.stringMatching(/^0x/),
      });
    },
  );
});

type Facilitator = Awaited<ReturnType<typeof startFacilitator>>;

/** A payment that reverts, and which transaction did: its payer empties the wallet after the check, and has money again afterwards. */
async function revertedOnce(setting: EvmSetting, facilitator: Facilitator) {
  const tester = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(walletActions);
  const buyer = await setting.fundedBuyer(10_000n);
  const body = await paymentBody(buyer, setting.terms);
  await setting.chain.fund(buyer.address, { wei: 10n ** 18n });
  await tester.impersonateAccount({ address: buyer.address });
  await tester.setAutomine(false);
  const settling = facilitator.settle(body);
  try {
    await expect.poll(async () => (await tester.getTxpoolStatus()).pending, { interval: 5 }).toBe(1);
    // A transfer with a higher fee is mined before the settlement, in the same block.
    await tester.writeContract({
      address: setting.chain.usdc,
      abi: usdcStandIn.abi,
      functionName: "transfer",
      args: [newBuyer().address, 10_000n],
      account: buyer.address,
      maxPriorityFeePerGas: 10n ** 10n,
      maxFeePerGas: 10n ** 11n,
      chain: null,
    });
    await tester.mine({ blocks: 1 });
    await settling;
  } finally {
    await tester.setAutomine(true);
  }
  await setting.chain.fund(buyer.address, { usdc: 10_000n });
  return { body, failed: (await settling).body };
}

test("a payer who empties the wallet after the check fails with the hash, and may pay again when funded", async ({
  setting,
  facilitator,
}) => {
  const { body, failed } = await revertedOnce(setting, facilitator);
  expect(failed).toMatchObject({
    success: false,
    errorReason: "invalid_transaction_state",
    transaction: expect.stringMatching(/^0x/),
  });
  expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
});

test("the network fee that is shown of a payment is that of the transaction which ended it, though an earlier one's was shown before", async ({
  setting,
  facilitator,
  client,
}) => {
  const { body, failed } = await revertedOnce(setting, facilitator);
  const headers = { accept: "text/html" };
  const feeOn = async (transaction: string) => {
    const page = await (await fetch(`${facilitator.url}/tx/${transaction}`, { headers })).text();
    return /paid ([\d.]+) ETH/.exec(page)?.[1];
  };
  const feeOf = async (hash: Hex) => {
    const { gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash });
    return formatUnits(gasUsed * effectiveGasPrice, 18);
  };
  await expect.poll(() => feeOn(failed.transaction)).toBe(await feeOf(failed.transaction));
  const { transaction, success } = (await facilitator.settle(body)).body;
  expect(success).toBe(true);
  expect(await feeOf(transaction)).not.toBe(await feeOf(failed.transaction));
  await expect.poll(() => feeOn(transaction)).toBeDefined();
  expect(await feeOn(transaction)).toBe(await feeOf(transaction));
});

test("a payment for a resource whose URL is longer than what is kept, once it is percent-encoded, is settled and recorded without it", async ({
  setting,
  facilitator,
}) => {
  const letters = Array.from({ length: 2_000 }, () => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000)));
  const url = `https://api.example.com/${letters.join("")}`;
  const bodies = [
    edited(await pay(setting), { "paymentPayload.resource": { url } }),
    edited(asV1(await pay(setting)), { "paymentRequirements.resource": url }),
  ];
  for (const asked of bodies) {
    const { body } = await facilitator.settle(asked);
    expect(body).toMatchObject({ success: true });
    expect((await facilitator.get(`/payments/${body.transaction}`)).body).toMatchObject({
      state: "settled",
      resource_url: null,
    });
  }
});

/** Has the database away from the moment when a verb of the store has been carried out, until it is to be back. */
function failing({ store }: { readonly store: SettlementStore }) {
  const away = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  let after: string | undefined;
  let isAway = false;
  for (const verb of ["lookup", "finish", "deliver", "retract"] as const) {
    const real = store[verb].bind(store) as (...asked: unknown[]) => Promise<unknown>;
    vi.spyOn(store, verb).mockImplementation((async (...asked: unknown[]) => {
      if (isAway) throw away;
      const answer = await real(...asked);
      if (verb !== after) return answer;
      isAway = true;
      throw away;
    }) as never);
  }
  return {
    from: (verb: "finish" | "deliver") => {
      after = verb;
    },
    back: () => {
      [after, isAway] = [undefined, false];
    },
  };
}

test("a success that the database stored as told, and was away from then on until the deadline, is told to who sends the settlement again, once", async ({
  setting,
  proxied,
}) => {
  const facilitator = await startFacilitator({ ...proxied, SETTLE_TIMEOUT_MS: "2000" });
  try {
    const { db } = facilitator.context;
    const database = failing(facilitator.context);
    const body = await pay(setting);
    database.from("finish");
    const first = await facilitator.settle(body);
    expect(first.body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    const { rows } = await db.query("select state, delivered_at is not null as told from payments where payer = $1", [
      body.paymentPayload.payload.authorization.from,
    ]);
    expect(rows).toEqual([{ state: "settled", told: true }]);
    // So is one that was sent again meanwhile.
    database.back();
    database.from("deliver");
    expect((await facilitator.settle(body)).body).toMatchObject({ success: false });
    database.back();
    const again = await Promise.all([1, 2, 3].map(() => facilitator.settle(body)));
    expect(again.filter(({ body: { success } }) => success)).toHaveLength(1);
    const { transaction } = first.body;
    expect(again.map(({ body: told }) => told.transaction)).toEqual([transaction, transaction, transaction]);
  } finally {
    vi.restoreAllMocks();
    await facilitator.stop();
  }
});

test("a success that the database stored as told is taken back by a copy that is told to stop, once the database is back", async ({
  setting,
  facilitator: other,
}) => {
  const facilitator = await startFacilitator({ ...setting.variables, SETTLE_TIMEOUT_MS: "2000" });
  try {
    const database = failing(facilitator.context);
    const body = await pay(setting);
    database.from("finish");
    const first = await facilitator.settle(body);
    expect(first.body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    const stopped = facilitator.stop();
    await elapse(1_500, "the database comes back later than a copy with nothing to do would have stopped");
    database.back();
    await stopped;
    expect((await other.settle(body)).body).toMatchObject({ success: true, transaction: first.body.transaction });
    expect((await other.settle(body)).body).toMatchObject({ success: false, errorReason: "already_settled" });
  } finally {
    vi.restoreAllMocks();
  }
});

test("a payment that comes behind another request of its connection is settled, and told of, when that has been answered", async ({
  setting,
  facilitator,
}) => {
  const { db } = facilitator.context;
  const waiting = await pay(setting);
  const { transaction } = (await facilitator.settle(waiting)).body;
  // As while another copy settles it.
  await db.query(
    "update payments set state = 'broadcast', lease_until = now() + interval '1 hour' where transaction_id = $1",
    [transaction],
  );
  const prompt = await pay(setting);
  const { hostname, port } = new URL(facilitator.url);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  for (const body of [waiting, prompt].map((one) => JSON.stringify(one)))
    socket.write(
      `POST /settle HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  const { from } = prompt.paymentPayload.payload.authorization;
  const settled = async () =>
    (await db.query("select delivered_at is not null as told from payments where payer = $1", [from])).rows;
  for (let turn = 0; turn < 20; turn += 1) await facilitator.get("/health");
  expect(await settled()).toEqual([]);
  await db.query("update payments set state = 'settled' where transaction_id = $1", [transaction]);
  await expect.poll(() => received.match(/HTTP\/1\.1 200/g)?.length).toBe(2);
  expect(received).toMatch(new RegExp(`already_settled.*"success":true.*${from}`, "s"));
  await expect.poll(settled).toEqual([{ told: true }]);
  socket.destroy();
});
