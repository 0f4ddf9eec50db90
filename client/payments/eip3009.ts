import { toHex } from "../hex.ts";
import type { Requirements } from "./quote.ts";

/** A transfer that its payer signs and any account may send: exactly this amount, to this wallet, once (EIP-3009). */
export interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

/** `at`: when the quote was made, by the server's clock. */
export function authorizationOf(requirements: Requirements, from: string, at: Date): Authorization {
  const { payTo, amount, maxTimeoutSeconds } = requirements;
  const random = crypto.getRandomValues(new Uint8Array(32));
  return {
    from,
    to: payTo,
    value: amount,
    validAfter: "0",
    validBefore: String(Math.floor(at.getTime() / 1_000) + maxTimeoutSeconds),
    nonce: `0x${toHex(random)}`,
  };
}

/** What is signed for it (EIP-712). */
export function typedDataOf(requirements: Requirements, authorization: Authorization) {
  const { network, asset, extra } = requirements;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return {
    types,
    primaryType: "TransferWithAuthorization",
    domain: {
      name: String(extra.name),
      version: String(extra.version),
      chainId: Number(network.split(":")[1]),
      verifyingContract: asset as Hex,
    },
    message: {
      from: from as Hex,
      to: to as Hex,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as Hex,
    },
  } as const;
}

export type TypedData = ReturnType<typeof typedDataOf>;

type Hex = `0x${string}`;

const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;
