import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { createTestClient, http, publicActions, walletActions } from "viem";
import { describe, expect } from "vitest";
import { parsePaymentRequest } from "../../facilitator/payment-request.ts";
import { checkWindow } from "../../facilitator/schemes/exact-evm/checks.ts";
import type { EvmPayment } from "../../facilitator/schemes/exact-evm/payload.ts";
import type { PaymentRequest } from "../../facilitator/schemes/scheme.ts";
import { usdcStandIn } from "../../infra/local-evm/artifacts.ts";
import { edited } from "../support/edit.ts";
import type { EvmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import type { startFacilitator } from "../support/facilitator.ts";
import { proxiedEvmTest } from "../support/fixtures.ts";
import { lapseAll } from "../support/lapse.ts";
import { Service } from "../support/service.ts";

const test = proxiedEvmTest({ EIP155_84532_RPC_TIMEOUT_MS: "30000" }, "/?apikey=secret-of-the-node");

const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);
const chain = (setting: EvmSetting) =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);

/** A body as bytes, which may be no text at all. */
async function postBytes(
  facilitator: Awaited<ReturnType<typeof startFacilitator>>,
  path: string,
  bytes: Buffer,
): Promise<{ status: number; body: string }> {
  const url = new URL(path, facilitator.url);
  const request = httpRequest(url, { method: "POST", headers: { "content-type": "application/json" } });
  request.end(bytes);
  const [response] = await once(request, "response");
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body };
}

describe("whatever is posted", () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

  test.for([
    ["JSON nested ten thousand levels deep", Buffer.from(deep(10_000))],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ["a body of spaces", Buffer.from(" ".repeat(1_000))],
    ["keys of a prototype", Buffer.from('{"__proto__":{"paymentPayload":{}},"constructor":{"prototype":{}}}')],
  ] as const)("%s is a 400 in JSON, from both verbs", async ([_name, bytes], { facilitator }) => {
    for (const path of ["/verify", "/settle"]) {
      const { status, body } = await postBytes(facilitator, path, bytes);
      expect(status).toBe(400);
      expect(JSON.parse(body).error).toMatch(/\w/);
    }
  });

  test("a key given twice counts as its last, and a polluted prototype changes nothing", async ({
    setting,
    facilitator,
  }) => {
    const body = JSON.stringify(await pay(setting));
    const twice = `{"paymentRequirements":{"scheme":"x"},"__proto__":{"isValid":true},${body.slice(1)}`;
    expect((await facilitator.verify(twice)).body).toMatchObject({ isValid: true });
    expect(Object.hasOwn(Object.prototype, "isValid")).toBe(false);
  });
});

describe("what an answer tells", () => {
  test("an answer never tells the node's address or its key, whatever the node does", async ({
    setting,
    facilitator,
    proxy,
  }) => {
    const body = await pay(setting);
    const said: string[] = [];
    for (const fate of ["lose-call", "lose-answer"] as const) {
      proxy.behave((method) => (method === "eth_chainId" ? "pass" : fate));
      said.push(
        JSON.stringify((await facilitator.verify(body)).body),
        JSON.stringify((await facilitator.settle(body)).body),
      );
    }
    const poor = await paymentBody(await setting.fundedBuyer(1n), setting.terms);
    proxy.behave(() => "pass");
    said.push(JSON.stringify((await facilitator.verify(poor)).body));
    for (const text of said) expect(text).not.toMatch(/secret-of-the-node|127\.0\.0\.1|http:|at .*\.ts/);
  });
});

describe("while the chain is away", () => {
  test("/supported, /health, /livez and /readyz wait for nothing that it would have to say", async ({
    facilitator,
    proxy,
  }) => {
    proxy.behave(() => "hold");
    const answers = await Promise.all(
      ["/supported", "/health", "/livez", "/readyz"].map((path) => facilitator.get(path)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe("an authorization", () => {
  test("cancelled between verify and settle fails cleanly, and nothing is sent for it", async ({
    setting,
    facilitator,
  }) => {
    const buyer = await setting.fundedBuyer();
    const body = await paymentBody(buyer, setting.terms);
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: true });
    const { nonce } = body.paymentPayload.payload.authorization;
    const domain = {
      name: "USDC",
      version: "2",
      chainId: setting.chain.chainId,
      verifyingContract: setting.chain.usdc,
    };
    const signature = await buyer.signTypedData({
      domain,
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" },
        ],
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: buyer.address, nonce },
    });
    await setting.chain.fund(buyer.address, { wei: 10n ** 18n });
    await chain(setting).impersonateAccount({ address: buyer.address });
    const [r, s] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`] as [`0x${string}`, `0x${string}`];
    await chain(setting).writeContract({
      address: setting.chain.usdc,
      abi: usdcStandIn.abi,
      functionName: "cancelAuthorization",
      args: [buyer.address, nonce, Number.parseInt(signature.slice(130), 16), r, s],
      account: buyer.address,
      chain: null,
    });
    const before = await chain(setting).getTransactionCount({ address: setting.signer as `0x${string}` });
    const { body: answer } = await facilitator.settle(body);
    expect(answer).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_nonce_already_used",
      transaction: "",
    });
    expect(await chain(setting).getTransactionCount({ address: setting.signer as `0x${string}` })).toBe(before);
  });

  test("of a payer whose key account has become a contract (EIP-7702) is for the contract to accept, not for the key", async ({
    setting,
    facilitator,
  }) => {
    const buyer = await setting.fundedBuyer();
    const body = await paymentBody(buyer, setting.terms);
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: true });
    // A delegation to a contract that accepts no signature, as the payer's account would carry it.
    const delegation = `0xef0100${setting.chain.usdc.slice(2)}` as `0x${string}`;
    await chain(setting).setCode({ address: buyer.address, bytecode: delegation });
    expect((await facilitator.verify(body)).body).toMatchObject({
      isValid: false,
      invalidReason: "invalid_exact_evm_signature",
    });
  });

  test("five seconds from its end is not valid, and six are enough", async ({ setting, facilitator }) => {
    const buyer = await setting.fundedBuyer();
    const validBefore = String(Math.floor(Date.now() / 1_000) + 5);
    const body = await paymentBody(buyer, setting.terms, { validBefore });
    const late = { isValid: false, invalidReason: "invalid_exact_evm_payload_authorization_valid_before" };
    expect((await facilitator.verify(body)).body).toMatchObject(late);
    // At an exact moment, which a question that travels cannot have.
    const scheme = facilitator.context.schemes.openOn("eip155:84532")!;
    const payment = scheme.decode(parsePaymentRequest(body) as PaymentRequest) as EvmPayment;
    const secondsBefore = (seconds: number) => new Date((Number(validBefore) - seconds) * 1_000);
    expect(checkWindow(payment, secondsBefore(6))).toBeUndefined();
    expect(checkWindow(payment, secondsBefore(5))).toMatchObject({ refused: late.invalidReason });
  });

  test("in a token that is not on the list is refused, whatever the token's contract says", async ({
    setting,
    facilitator,
  }) => {
    const asset = await setting.chain.deploy(usdcStandIn);
    const buyer = await setting.fundedBuyer();
    await setting.chain.mint(asset, buyer.address, 1_000_000n);
    const body = await paymentBody(buyer, { ...setting.terms, asset });
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: false, invalidReason: "invalid_asset" });
  });

  test("settled at one resource settles no second one at the same price and wallet", async ({
    setting,
    facilitator,
  }) => {
    const body = await pay(setting);
    expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
    const elsewhere = edited(body, { "paymentPayload.resource.url": "https://other.example.com/b" });
    expect((await facilitator.settle(elsewhere)).body).toMatchObject({
      success: false,
      errorReason: "already_settled",
    });
  });
});

describe("when the database goes away", () => {
  test("in the middle of a settlement, the claim is kept, the answer is no failure, and it settles once when it is back", async ({
    setting,
    facilitator,
  }) => {
    const body = await pay(setting);
    const { db } = facilitator.context;
    const before = await chain(setting).getTransactionCount({ address: setting.signer as `0x${string}` });
    // The row of what was sent cannot be finished: the table refuses for a while.
    await db.query(`create function refuse_ending() returns trigger language plpgsql as
      $$ begin if new.state = 'settled' then raise exception 'out of order'; end if; return new; end $$`);
    await db.query(
      "create trigger refuse_ending before update on payments for each row execute function refuse_ending()",
    );
    const { status, body: answer } = await facilitator.settle(body);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(answer.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    await db.query("drop trigger refuse_ending on payments");
    await lapseAll(db);
    await expect
      .poll(async () => (await facilitator.settle(body)).body, { interval: 200 })
      .toMatchObject({
        success: true,
      });
    expect(await chain(setting).getTransactionCount({ address: setting.signer as `0x${string}` })).toBe(before + 1);
  });
});

describe("a process that is told to stop", () => {
  test("finishes what it is settling, refuses new work and exits 0", async ({ setting, facilitator }) => {
    const daemon = await Service.start("facilitator", { ...setting.variables, EIP155_84532_CONFIRMATIONS: "2" });
    const body = await pay(setting);
    const settling = fetch(`${daemon.url}/settle`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }).then((response) => response.json());
    const waiting = () => facilitator.context.db.query("select from payments where state = 'broadcast'");
    await expect.poll(async () => (await waiting()).rowCount).toBe(1);
    const stopped = daemon.stop();
    await expect
      .poll(() =>
        fetch(`${daemon.url}/supported`).then(
          () => true,
          () => false,
        ),
      )
      .toBe(false);
    await chain(setting).mine({ blocks: 2 });
    expect(await settling).toMatchObject({ success: true });
    expect(await stopped).toBe(0);
  });

  test("a process killed after it claimed and before it signed leaves a payment that can be settled", async ({
    setting,
    facilitator,
  }) => {
    const body = await pay(setting);
    const { authorization } = body.paymentPayload.payload;
    const key = `${setting.chain.usdc}:${authorization.from}:${authorization.nonce}`.toLowerCase();
    // What such a process leaves behind: a bare claim whose holder is gone.
    await facilitator.context.db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                             expires_at, lease_until)
       values ('eip155:84532', $1, 'claimed', gen_random_uuid(), 'exact', $2, $3, $4, 10000, now() + interval '1 hour', now())`,
      [key, authorization.from, authorization.to, setting.chain.usdc],
    );
    await expect
      .poll(async () => (await facilitator.settle(body)).body, { interval: 300 })
      .toMatchObject({
        success: true,
      });
  });
});
