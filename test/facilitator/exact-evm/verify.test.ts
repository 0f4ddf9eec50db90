import { createPublicClient, createTestClient, http, walletActions } from "viem";
import { describe, expect } from "vitest";
import { ownerWallet, usdcStandIn } from "../../../infra/local-evm/artifacts.ts";
import { edited } from "../../support/edit.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { asV1, type Buyer, type EvmTerms, newBuyer, paymentBody } from "../../support/evm-payments.ts";
import { type RunningFacilitator, startFacilitator } from "../../support/facilitator.ts";
import { chainTest } from "../../support/fixtures.ts";
import { kept, perFile } from "../../support/part.ts";

let setting: EvmSetting;
let facilitator: RunningFacilitator;
let buyer: Buyer;

const test = chainTest().extend("facilitator", perFile, ({ setting }, { onCleanup }) =>
  kept(startFacilitator(setting.variables), onCleanup),
);
test.beforeAll(async ({ setting: evm, facilitator: started }) => {
  [setting, facilitator] = [evm, started];
  buyer = await setting.fundedBuyer();
});

const valid = () => paymentBody(buyer, setting.terms);
const now = () => Math.floor(Date.now() / 1_000);

describe("a payment that holds", () => {
  test("is valid in version 2, and its payer is named", async () => {
    const { status, body } = await facilitator.verify(await valid());
    expect({ status, body }).toEqual({
      status: 200,
      body: { isValid: true, payer: buyer.address, holdId: expect.any(String) },
    });
  });

  test("is valid in version 1, by network name and by CAIP-2 id", async () => {
    for (const network of ["base-sepolia", "eip155:84532"]) {
      const { body } = await facilitator.verify(asV1(await valid(), network));
      expect(body).toMatchObject({ isValid: true });
    }
  });

  test("a payment may lack x402Version at the top, as the specification's example does", async () => {
    const { x402Version: _, ...body } = await valid();
    expect((await facilitator.verify(body)).body.isValid).toBe(true);
  });

  test("a payment may write its recovery id as 0 or 1 and its hex in capitals", async () => {
    const body = await valid();
    const { payload } = body.paymentPayload;
    const v = Number.parseInt(payload.signature.slice(-2), 16) - 27;
    payload.signature = `0x${payload.signature.slice(2, -2).toUpperCase()}0${v}`;
    payload.authorization.nonce = `0x${payload.authorization.nonce.slice(2).toUpperCase()}`;
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: true });
  });
});

describe("a payment that breaks only one rule is refused with that rule's reason", () => {
  const stranger = newBuyer();
  const but = (changes: Record<string, unknown>) => async () => edited(await valid(), changes);
  /** The same change in what the server requires and what the payer accepted. */
  const terms = (changes: Record<string, unknown>) => {
    const paths = Object.entries(changes).flatMap(([path, value]) =>
      ["paymentRequirements", "paymentPayload.accepted"].map((place) => [`${place}.${path}`, value]),
    );
    return but(Object.fromEntries(paths));
  };
  const signature = (change: (given: string) => string) => but({ "paymentPayload.payload.signature": change });
  const signed = (changes: Parameters<typeof paymentBody>[2]) => () => paymentBody(buyer, setting.terms, changes);
  const on = (changes: Partial<EvmTerms>) => () => paymentBody(buyer, { ...setting.terms, ...changes });

  const valueMismatch = "invalid_exact_evm_payload_authorization_value_mismatch";
  const parity = "accepted_payment_requirements_mismatch";
  const soon = () => signed({ validBefore: String(now() + 5) })();
  const later = () => signed({ validAfter: String(now() + 60), validBefore: String(now() + 120) })();

  const rows: ReadonlyArray<readonly [string, string, () => Promise<unknown>]> = [
    ["E0 another transfer method", "unsupported_payload_type", terms({ "extra.assetTransferMethod": "permit2" })],
    ["E1 another accepted scheme", "invalid_exact_evm_scheme", but({ "paymentPayload.accepted.scheme": "upto" })],
    ["E2 no domain name", "invalid_exact_evm_missing_eip712_domain", terms({ "extra.name": undefined })],
    [
      "E3 another network",
      "invalid_exact_evm_network_mismatch",
      but({ "paymentPayload.accepted.network": "eip155:1" }),
    ],
    ["X1 another accepted amount", parity, but({ "paymentPayload.accepted.amount": "1" })],
    ["X1 another accepted payTo", parity, but({ "paymentPayload.accepted.payTo": stranger.address })],
    ["X1 another accepted asset", parity, but({ "paymentPayload.accepted.asset": stranger.address })],
    [
      "E5 another key",
      "invalid_exact_evm_signature",
      () => paymentBody(stranger, setting.terms, { from: buyer.address }),
    ],
    ["E5 a truncated signature", "invalid_exact_evm_signature", signature((given) => given.slice(0, -2))],
    ["E5 no signature bytes", "invalid_exact_evm_signature", signature(() => "0x")],
    ["E5 the malleated twin (high s)", "invalid_exact_evm_signature", signature(highS)],
    ["E5 another chain's domain", "invalid_exact_evm_signature", on({ chainId: 1 })],
    ["E4 a wallet yet to be deployed", "eip6492_factory_not_allowed", signature((given) => given + "6492".repeat(16))],
    ["E6 pays somebody else", "invalid_exact_evm_recipient_mismatch", signed({ to: stranger.address })],
    ["E7 ends in 5 seconds", "invalid_exact_evm_payload_authorization_valid_before", soon],
    ["E8 begins in a minute", "invalid_exact_evm_payload_authorization_valid_after", later],
    ["E9 one unit less", valueMismatch, signed({ value: "9999" })],
    ["E9 one unit more", valueMismatch, signed({ value: "10001" })],
    ["E10 an asset that is no contract", "asset_not_deployed_contract", terms({ asset: stranger.address })],
    ["E11 too little money", "invalid_exact_evm_insufficient_balance", () => paymentBody(newBuyer(), setting.terms)],
    ["E11 not the token's name", "invalid_exact_evm_token_name_mismatch", on({ name: "USD Coin" })],
    ["E11 not the token's version", "invalid_exact_evm_token_version_mismatch", on({ version: "1" })],
    ["D4 payer and payTo are one", "pay_to_not_allowed", () => on({ payTo: buyer.address })()],
    ...["0", "01", "-1", "+1", "1e3", "0x10", " 10000", "1.5", "", (2n ** 256n).toString()].map(
      (amount) => [`X7 amount ${JSON.stringify(amount)}`, "invalid_amount", terms({ amount })] as const,
    ),
    ["X7 a value in hex", valueMismatch, but({ "paymentPayload.payload.authorization.value": "0x2710" })],
    ["F3 another network", "invalid_network", but({ "paymentRequirements.network": "eip155:999" })],
    ["F3 another scheme", "unsupported_scheme", but({ "paymentRequirements.scheme": "upto" })],
    ["F3 another version", "invalid_x402_version", but({ x402Version: 3, "paymentPayload.x402Version": 3 })],
    ["D6 versions that differ", "invalid_x402_version", but({ x402Version: 1 })],
  ];

  test.each(rows)("%s: %s", async (_name, reason, make) => {
    const { status, body } = await facilitator.verify(await make());
    expect({ status, reason: body.invalidReason }).toEqual({ status: 200, reason });
    expect(body).toMatchObject({ isValid: false, invalidMessage: expect.stringMatching(/\w/) });
  });

  test("the same refusal meets /settle, with an empty transaction and the network as given", async () => {
    const { status, body } = await facilitator.settle(await signed({ value: "9999" })());
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_payload_authorization_value_mismatch",
      transaction: "",
      network: "eip155:84532",
    });
  });

  test("E9 in version 1 has version 1's own reason", async () => {
    const { body } = await facilitator.verify(asV1(await signed({ value: "9999" })()));
    expect(body.invalidReason).toBe("invalid_exact_evm_authorization_value");
  });

  test("E11 an authorization the payer has cancelled", async () => {
    const body = await valid();
    const { nonce } = body.paymentPayload.payload.authorization;
    await cancel(setting, buyer, nonce);
    expect((await facilitator.verify(body)).body.invalidReason).toBe("invalid_exact_evm_nonce_already_used");
  });
});

describe("contract wallets (ERC-1271)", () => {
  test("pay with their owner's 65-byte signature, and with no other's", async () => {
    const owner = newBuyer();
    const wallet = await setting.chain.deploy(ownerWallet, [owner.address]);
    await setting.chain.fund(wallet, { usdc: 1_000_000n });
    const own = await paymentBody(owner, setting.terms, { from: wallet });
    expect((await facilitator.verify(own)).body).toEqual({ isValid: true, payer: wallet, holdId: expect.any(String) });
    const foreign = await paymentBody(newBuyer(), setting.terms, { from: wallet });
    expect((await facilitator.verify(foreign)).body.invalidReason).toBe("invalid_exact_evm_signature");
  });
});

describe("a malformed body is 400 and names the field", () => {
  const paths = [
    "paymentPayload",
    "paymentRequirements",
    "paymentPayload.x402Version",
    "paymentPayload.accepted",
    "paymentPayload.payload",
    "paymentPayload.payload.authorization",
    "paymentPayload.payload.authorization.from",
    "paymentPayload.payload.authorization.value",
    "paymentPayload.payload.signature",
    "paymentRequirements.scheme",
    "paymentRequirements.network",
    "paymentRequirements.amount",
    "paymentRequirements.asset",
    "paymentRequirements.payTo",
    "paymentRequirements.maxTimeoutSeconds",
  ];

  test.each(paths)("a body without %s is 400 and names the field", async (path) => {
    for (const call of [facilitator.verify, facilitator.settle]) {
      const { status, body } = await call(edited(await valid(), { [path]: undefined }));
      expect({ status, field: body.field }).toEqual({ status: 400, field: path });
      expect(body.error).toContain(path);
    }
  });

  test.each(["", "[]", "null", "42", '"text"', "{", "\u0000"])("the body %j is 400 and says so", async (text) => {
    const { status, body } = await facilitator.verify(text);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: expect.stringMatching(/\w/),
      isValid: false,
      invalidReason: "invalid_payload",
    });
  });

  test("a number where the amount's text belongs is 400 and names the field", async () => {
    const body = await valid();
    Object.assign(body.paymentRequirements, { amount: 10_000 });
    expect(await facilitator.verify(body)).toMatchObject({
      status: 400,
      body: { field: "paymentRequirements.amount" },
    });
  });

  test("a body of more than 64 KiB is 413", async () => {
    expect((await facilitator.verify(JSON.stringify({ padding: "x".repeat(70_000) }))).status).toBe(413);
  });
});

test("/supported names both versions and the signer, and answers without asking the chain", async () => {
  const { body } = await facilitator.get("/supported");
  expect(body.kinds).toEqual([
    { x402Version: 2, scheme: "exact", network: "eip155:84532" },
    { x402Version: 1, scheme: "exact", network: "base-sepolia" },
  ]);
  expect(body.signers).toEqual({ "eip155:*": [setting.signer] });
});

test("/health shows the fee payer's balance", async () => {
  const { status, body } = await facilitator.get("/health");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: "ok",
    env: "testnet",
    chains: [{ network: "eip155:84532", feePayer: setting.signer, balance: 10, unit: "ETH", lowBalance: false }],
  });
});

function highS(signature: string): `0x${string}` {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = order - BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.endsWith("1b") ? "1c" : "1b";
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, "0")}${v}` as `0x${string}`;
}

/** EIP-3009's cancelAuthorization, sent by the chain's own faucet account. */
async function cancel({ chain, terms }: EvmSetting, buyer: Buyer, nonce: `0x${string}`): Promise<void> {
  const domain = { name: "USDC", version: "2", chainId: terms.chainId, verifyingContract: chain.usdc };
  const typed = {
    domain,
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer: buyer.address, nonce },
  } as const;
  const signature = await buyer.signTypedData(typed);
  const [r, s, v] = [
    signature.slice(0, 66),
    `0x${signature.slice(66, 130)}`,
    Number.parseInt(signature.slice(130), 16),
  ];
  const sender = createTestClient({ mode: "anvil", transport: http(chain.rpcUrl) }).extend(walletActions);
  await chain.fund(buyer.address, { wei: 10n ** 18n });
  await sender.impersonateAccount({ address: buyer.address });
  const hash = await sender.writeContract({
    address: chain.usdc,
    abi: usdcStandIn.abi,
    functionName: "cancelAuthorization",
    args: [buyer.address, nonce, v, r as `0x${string}`, s as `0x${string}`],
    account: buyer.address,
    chain: null,
  });
  const client = createPublicClient({ transport: http(chain.rpcUrl), pollingInterval: 20 });
  await chain.receipt(hash);
  const used = await client.readContract({
    address: chain.usdc,
    abi: usdcStandIn.abi,
    functionName: "authorizationState",
    args: [buyer.address, nonce],
  });
  expect(used).toBe(true);
}
