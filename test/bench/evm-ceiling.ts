import { createPublicClient, encodeFunctionData, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { usdcStandIn } from "../../infra/local-evm/artifacts.ts";
import type { signAuthorization } from "../support/evm-payments.ts";
import { type Figures, measure } from "./load.ts";

type Signed = Awaited<ReturnType<typeof signAuthorization>>;

/**
 * What the node itself can take: transactions signed beforehand, sent `inFlight` at a time, each done when its receipt
 * is there. Nothing that settles payments one by one on this node can be faster.
 */
export async function evmCeiling(
  { rpcUrl, asset, key }: { rpcUrl: string; asset: `0x${string}`; key: `0x${string}` },
  payments: readonly Signed[],
  inFlight: number,
): Promise<Figures> {
  const account = privateKeyToAccount(key);
  const node = createPublicClient({ transport: http(rpcUrl) });
  const first = await node.getTransactionCount({ address: account.address });
  const fees = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1_000_000n, gas: 200_000n };
  const raw = await Promise.all(
    payments.map(({ authorization, signature }, index) => {
      const { from, to, value, validAfter, validBefore, nonce } = authorization;
      const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature] as const;
      const data = encodeFunctionData({ abi: usdcStandIn.abi, functionName: "transferWithAuthorization", args });
      const fields = {
        to: asset,
        data,
        nonce: first + index,
        chainId: baseSepolia.id,
        type: "eip1559",
        ...fees,
      } as const;
      return account.signTransaction(fields);
    }),
  );
  const calls = raw.map((serializedTransaction) => async () => {
    const hash = await node.request({ method: "eth_sendRawTransaction", params: [serializedTransaction] });
    for (;;) {
      const receipt = await node.request({ method: "eth_getTransactionReceipt", params: [hash] });
      if (receipt) return receipt.status === "0x1";
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
  });
  return measure(calls, inFlight);
}
