import { describe, expect } from "vitest";
import { documented } from "../support/documented.ts";
import { edited } from "../support/edit.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { proxiedEvmTest } from "../support/fixtures.ts";
import { lapseAll } from "../support/lapse.ts";
import { perFile } from "../support/part.ts";

const id = "0.0.9999@1740672089.000000001";

const test = proxiedEvmTest()
  /** A copy that waits for a chain that says nothing no longer than it must. */
  .extend("impatient", perFile, async ({ setting, facilitator: _ }, { onCleanup }) => {
    const impatient = documented(await startFacilitator({ ...setting.variables, SETTLE_TIMEOUT_MS: "6000" }));
    onCleanup(impatient.stop);
    return impatient;
  })
  /** A payment on Hedera with that id. */
  .extend("insert", perFile, ({ facilitator }) => {
    return (state: string, transaction: string | null, network = "hedera:testnet") =>
      facilitator.context.db.query(
        `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                               transaction_id, expires_at, lease_until, error_reason)
         values ($1, $2, $3, gen_random_uuid(), 'exact', '0.0.7', '0.0.8', '0.0.429274', 5, $4, now(), now() + interval '1 hour',
                 case when $3 = 'failed' then 'transaction_failed' end)`,
        [network, id, state, transaction],
      );
  });

test("a settled payment is found by its hash, in either case", async ({ setting, facilitator }) => {
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const { transaction, payer } = (await facilitator.settle(body)).body;
  const { status, headers, body: found } = await facilitator.get(`/payments/${transaction}`);
  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(found).toEqual({
    state: "settled",
    network: "eip155:84532",
    transaction,
    payer,
    pay_to: expect.stringMatching(new RegExp(setting.terms.payTo, "i")),
    asset: expect.stringMatching(new RegExp(setting.terms.asset, "i")),
    amount_atomic: "10000",
    resource_url: "https://api.example.com/weather",
    found_again: false,
    error_reason: null,
    created_at: expect.any(String),
    expires_at: expect.any(String),
    finished_at: expect.any(String),
    explorer: null,
  });
  expect((await facilitator.get(`/payments/0x${transaction.slice(2).toUpperCase()}`)).body).toEqual(found);
  expect((await facilitator.get(`/payments/${transaction}?network=base-sepolia`)).body).toEqual(found);
  expect((await facilitator.get(`/payments/${transaction}?network=eip155:1`)).status).toBe(404);
});

test("whether it was for a quote is told to who knows the quote's terms, and of what another's transaction landed never", async ({
  setting,
  facilitator,
}) => {
  const quoted = {
    "paymentRequirements.extra.quoteId": "a secret of the quote",
    "paymentPayload.accepted.extra.quoteId": "a secret of the quote",
  };
  const body = edited(await paymentBody(await setting.fundedBuyer(), setting.terms), quoted);
  const { transaction } = (await facilitator.settle(body)).body;
  const { termsDigest: terms } = (await facilitator.settle(body)).body;
  const { from, nonce } = body.paymentPayload.payload.authorization;
  const asked = [`/payments/${transaction}?`, `/payments?network=eip155:84532&payer=${from}&nonce=${nonce}&`];
  const told = (digest: string) =>
    Promise.all(asked.map(async (path) => (await facilitator.get(`${path}terms=${digest}`)).body.for_terms));
  expect(terms).toMatch(/^[0-9a-f]{64}$/);
  expect(await told(terms)).toEqual([true, true]);
  expect(await told("0".repeat(64))).toEqual([false, false]);
  expect(await told("")).toEqual([undefined, undefined]);
  expect((await facilitator.get(`${asked[0]}terms=${"0".repeat(65)}`)).body).toMatchObject({ field: "terms" });
  await facilitator.context.db.query("update payments set landed_by_another = true where transaction_id = $1", [
    transaction,
  ]);
  expect(await told(terms)).toEqual([false, false]);
  const unquoted = await paymentBody(await setting.fundedBuyer(), setting.terms);
  asked.splice(0, 2, `/payments/${(await facilitator.settle(unquoted)).body.transaction}?`);
  expect(await told("null")).toEqual([false]);
});

test("a payment whose outcome nobody saw is broadcast or unknown, never failed, and then settled", async ({
  proxy,
  facilitator,
  impatient,
  setting,
}) => {
  proxy.behave((method) => (method === "eth_getTransactionReceipt" ? "lose-answer" : "pass"));
  const { body } = await impatient.settle(await paymentBody(await setting.fundedBuyer(), setting.terms));
  expect(body.errorReason).toBe("settlement_pending");
  const pending = (await facilitator.get(`/payments/${body.transaction}`)).body;
  expect(["broadcast", "unknown"]).toContain(pending.state);
  expect(pending.finished_at).toBeNull();
  proxy.behave(() => "pass");
  await lapseAll(facilitator.context.db);
  const stateOf = async () => (await facilitator.get(`/payments/${body.transaction}`)).body.state;
  await expect.poll(stateOf).toBe("settled");
});

describe("by what its payer signed", () => {
  const askedFor = ({ from, nonce }: { from: string; nonce: string }, more = "") =>
    `/payments?network=eip155:84532&payer=${from}&nonce=${nonce}${more}`;

  test("a settled payment is found as by its hash, whatever the case, with its token named or not", async ({
    setting,
    facilitator,
  }) => {
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    const { authorization } = body.paymentPayload.payload;
    expect((await facilitator.get(askedFor(authorization))).status).toBe(404);
    const { transaction } = (await facilitator.settle(body)).body;
    const found = (await facilitator.get(`/payments/${transaction}`)).body;
    const { from, nonce } = authorization;
    const inCapitals = { from: `0x${from.slice(2).toUpperCase()}`, nonce: `0x${nonce.slice(2).toUpperCase()}` };
    for (const path of [
      askedFor(authorization),
      askedFor(inCapitals),
      askedFor(authorization, `&asset=${setting.terms.asset}`),
      askedFor(authorization).replace("eip155:84532", "base-sepolia"),
    ]) {
      const { status, headers, body } = await facilitator.get(path);
      expect({ status, body }).toEqual({ status: 200, body: found });
      expect(headers.get("cache-control")).toBe("no-store");
    }
    expect((await facilitator.get(askedFor(authorization, `&asset=0x${"11".repeat(20)}`))).status).toBe(404);
  });

  test("a payment in a token that is taken no more is found, with its token named or not", async ({ facilitator }) => {
    const [asset, from, nonce] = [`0x${"1f".repeat(20)}`, `0x${"2e".repeat(20)}`, `0x${"3d".repeat(32)}`];
    await facilitator.context.db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at, lease_until)
       values ('eip155:84532', $1, 'claimed', gen_random_uuid(), 'exact', $2, $2, $3, 10, now(), 'infinity')`,
      [`${asset}:${from}:${nonce}`, from, asset],
    );
    for (const more of ["", `&asset=${asset}`])
      expect((await facilitator.get(askedFor({ from, nonce }, more))).body).toMatchObject({ state: "claimed", asset });
    for (const other of [askedFor({ from: asset, nonce }), askedFor({ from, nonce }).replace("84532", "8453")])
      expect((await facilitator.get(other)).status).toBe(404);
  });

  test("it is found before it has a transaction, until when it can land, and with nothing by which it could be redeemed", async ({
    setting,
    facilitator,
  }) => {
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    const { authorization } = body.paymentPayload.payload;
    const { from, nonce, to, value, validBefore } = authorization;
    const expiresAt = new Date(Number(validBefore) * 1_000);
    const key = `${setting.terms.asset}:${from}:${nonce}`.toLowerCase();
    await facilitator.context.db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at,
                             lease_until, terms_digest, message_digest)
       values ('eip155:84532', $1, 'claimed', gen_random_uuid(), 'exact', $2, $3, $4, $5, $6, now() + interval '1 hour',
               'terms-digest', 'message-digest')`,
      [key, from, to, setting.terms.asset, value, expiresAt],
    );
    const { body: found } = await facilitator.get(askedFor(authorization));
    expect(found).toEqual({
      state: "claimed",
      network: "eip155:84532",
      transaction: null,
      payer: from,
      pay_to: to,
      asset: setting.terms.asset,
      amount_atomic: value,
      resource_url: null,
      found_again: false,
      error_reason: null,
      created_at: expect.any(String),
      expires_at: expiresAt.toISOString(),
      finished_at: null,
      explorer: null,
    });
    await facilitator.context.db.query("delete from payments where payment_key = $1", [key]);
  });

  test("one whose outcome nobody saw is unknown, never failed", async ({ proxy, setting, facilitator, impatient }) => {
    proxy.behave((method) => (method === "eth_getTransactionReceipt" ? "lose-answer" : "pass"));
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    const { transaction } = (await impatient.settle(body)).body;
    const path = askedFor(body.paymentPayload.payload.authorization);
    const pending = (await facilitator.get(path)).body;
    expect(["broadcast", "unknown"]).toContain(pending.state);
    expect(pending).toMatchObject({ transaction, finished_at: null });
    expect(new Date(pending.expires_at).getTime()).toBeGreaterThan(Date.now());
    proxy.behave(() => "pass");
    await expect.poll(async () => (await facilitator.get(path)).body.state).toBe("settled");
  });

  const payer = `0x${"1b".repeat(20)}`;
  const nonce = `0x${"2c".repeat(32)}`;
  test.for([
    ["network", `payer=${payer}&nonce=${nonce}`],
    ["network", `network=hedera:testnet&payer=${payer}&nonce=${nonce}`],
    ["network", `network=eip155:x&payer=${payer}&nonce=${nonce}`],
    ["payer", `network=eip155:84532&nonce=${nonce}`],
    ["payer", `network=eip155:84532&payer=0x12&nonce=${nonce}`],
    ["payer", `network=eip155:84532&payer=${payer}&payer=${payer}&nonce=${nonce}`],
    ["nonce", `network=eip155:84532&payer=${payer}`],
    ["nonce", `network=eip155:84532&payer=${payer}&nonce=${nonce.replace("2c", "zz")}`],
    ["asset", `network=eip155:84532&payer=${payer}&nonce=${nonce}&asset=USDC`],
  ] as const)("what is wrong with the %s is a 400 that names it: %s", async ([field, query], { facilitator }) => {
    const { status, body } = await facilitator.get(`/payments?${query}`);
    expect({ status, field: body.field }).toEqual({ status: 400, field });
    const isLeftOut = !new URLSearchParams(query).has(field);
    expect(body.error === `${field} is required.`).toBe(isLeftOut);
  });
});

describe("on Hedera", () => {
  test.for(["claimed", "broadcast", "unknown", "settled", "failed"])(
    "a payment that is %s is found by both forms of its transaction id",
    async (state, { facilitator, insert }) => {
      await facilitator.context.db.query("delete from payments where network like 'hedera:%'");
      await insert(state, state === "claimed" ? null : id);
      for (const form of [id, "0.0.9999-1740672089-000000001", "0.0.9999@1740672089.1", encodeURIComponent(id)]) {
        const { body } = await facilitator.get(`/payments/${form}`);
        expect(body).toMatchObject({ state, transaction: id, network: "hedera:testnet", payer: "0.0.7" });
      }
      const { body } = await facilitator.get(`/payments/${id}`);
      expect(body.error_reason).toBe(state === "failed" ? "transaction_failed" : null);
    },
  );

  test("the same id on two networks is told apart by the network", async ({ facilitator, insert }) => {
    await facilitator.context.db.query("delete from payments where network like 'hedera:%'");
    await insert("settled", id);
    await insert("failed", id, "hedera:mainnet");
    expect((await facilitator.get(`/payments/${id}?network=hedera:testnet`)).body.state).toBe("settled");
    expect((await facilitator.get(`/payments/${id}?network=hedera:mainnet`)).body.state).toBe("failed");
    expect((await facilitator.get(`/payments/${id}`)).body.network).toBe("hedera:mainnet");
  });
});

test.for([
  `0x${"00".repeat(32)}`,
  "0.0.1@1.1",
  "0.0.1",
  "nothing",
  "0x12",
  "%00",
  "..%2f..%2fetc",
  `0.0.${"9".repeat(40)}@1.1`,
])("%s is 404", async (transaction, { facilitator }) => {
  const { status, body } = await facilitator.get(`/payments/${transaction}`);
  expect(status).toBe(404);
  expect(body.error).toEqual(expect.any(String));
});
