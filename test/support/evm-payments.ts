import { randomBytes } from "node:crypto";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

/** A buyer's EIP-3009 payment as stock clients build it, with anything in it replaceable. */
export interface EvmTerms {
  readonly network: string;
  readonly chainId: number;
  readonly asset: string;
  readonly payTo: string;
  readonly amount: string;
  readonly name?: string;
  readonly version?: string;
}

export interface Authorization {
  from: Address;
  to: Address;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: Hex;
}

export function newBuyer() {
  return privateKeyToAccount(generatePrivateKey());
}

export type Buyer = ReturnType<typeof newBuyer>;

export function requirementsOf(terms: EvmTerms) {
  return {
    scheme: "exact",
    network: terms.network,
    amount: terms.amount,
    asset: terms.asset,
    payTo: terms.payTo,
    maxTimeoutSeconds: 60,
    extra: { name: terms.name ?? "USDC", version: terms.version ?? "2" },
  };
}

export async function signAuthorization(buyer: Buyer, terms: EvmTerms, changes: Partial<Authorization> = {}) {
  const now = Math.floor(Date.now() / 1_000);
  const authorization: Authorization = {
    from: buyer.address,
    to: terms.payTo as Address,
    value: terms.amount,
    validAfter: "0",
    // Longer than the slowest machine takes to settle what was signed beforehand.
    validBefore: String(now + 900),
    nonce: `0x${randomBytes(32).toString("hex")}`,
    ...changes,
  };
  const signature = await buyer.signTypedData({
    domain: {
      name: terms.name ?? "USDC",
      version: terms.version ?? "2",
      chainId: terms.chainId,
      verifyingContract: terms.asset as Address,
    },
    types: {
      TransferWithAuthorization: [
        { name: "from", type: "address" },
        { name: "to", type: "address" },
        { name: "value", type: "uint256" },
        { name: "validAfter", type: "uint256" },
        { name: "validBefore", type: "uint256" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "TransferWithAuthorization",
    message: {
      from: authorization.from,
      to: authorization.to,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce,
    },
  });
  return { authorization, signature };
}

/** The body a v2 resource server posts to /verify and /settle. */
export async function paymentBody(buyer: Buyer, terms: EvmTerms, changes: Partial<Authorization> = {}) {
  const payload = await signAuthorization(buyer, terms, changes);
  const requirements = requirementsOf(terms);
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: "https://api.example.com/weather?token=secret", description: "Weather" },
      accepted: structuredClone(requirements),
      payload: structuredClone(payload),
    },
    paymentRequirements: requirements,
  };
}

/** The same payment as a v1 resource server posts it. */
export function asV1(body: Awaited<ReturnType<typeof paymentBody>>, network = "base-sepolia") {
  const { amount, ...rest } = body.paymentRequirements;
  return {
    x402Version: 1,
    paymentPayload: { x402Version: 1, scheme: "exact", network, payload: body.paymentPayload.payload },
    paymentRequirements: {
      ...rest,
      network,
      maxAmountRequired: amount,
      resource: "https://api.example.com/weather",
      description: "",
      mimeType: "application/json",
    },
  };
}
