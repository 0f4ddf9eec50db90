import { randomBytes } from "node:crypto";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { PaymentRequirements } from "../../shared/x402.ts";

/** The buyer's side of an EVM payment: signs an EIP-3009 authorization, which moves nothing by itself. */
export async function signEvmPayment(entry: PaymentRequirements, privateKey: Hex): Promise<object> {
  const buyer = privateKeyToAccount(privateKey);
  const { name, version } = entry.extra as { name: string; version: string };
  const nowSeconds = Math.floor(Date.now() / 1000);
  const authorization = {
    from: buyer.address,
    to: entry.payTo as Hex,
    value: entry.amount,
    validAfter: "0",
    validBefore: String(nowSeconds + entry.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString("hex")}` as Hex,
  };
  const signature = await buyer.signTypedData({
    domain: { name, version, chainId: Number(entry.network.split(":")[1]), verifyingContract: entry.asset as Hex },
    types: { TransferWithAuthorization: fields },
    primaryType: "TransferWithAuthorization",
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  });
  return { signature, authorization };
}

const fields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;
