import { type Address, encodeFunctionData, erc20Abi, getAbiItem, type Hex, hexToBigInt, type PublicClient } from "viem";

/**
 * Tries a transfer between a holder and a stranger without making it, and says what the stranger gets. Undefined when
 * it cannot be tried: the endpoint does not simulate, or nobody is known to hold the token.
 */
export async function tryTransfer(client: PublicClient, token: Address): Promise<Tried | undefined> {
  const holder = await findHolder(client, token).catch(() => undefined);
  if (!holder) return undefined;
  const { address: from, balance } = holder;
  const amount = balance > 1_000_000n ? balance / 1_000n : balance;
  const balanceOf = encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [stranger] });
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [stranger, amount] });
  const call = (data: Hex) => ({ from, to: token, data });
  const calls = [call(balanceOf), call(transfer), call(balanceOf)];
  const blocks = await client
    .request<SimulateSchema>({ method: "eth_simulateV1", params: [{ blockStateCalls: [{ calls }] }, "latest"] })
    .catch(() => undefined);
  const [before, moved, after] = blocks?.[0]?.calls ?? [];
  if (before?.status !== "0x1" || after?.status !== "0x1" || !moved) return undefined;
  if (moved.status !== "0x1") return { amount, outcome: "reverted" };
  return { amount, outcome: "moved", received: wordOf(after.returnData) - wordOf(before.returnData) };
}

export type Tried =
  | { readonly amount: bigint; readonly outcome: "reverted" }
  | { readonly amount: bigint; readonly outcome: "moved"; readonly received: bigint };

/** Nobody's address. */
const stranger = "0x000000000000000000000000000000000000c0de";
const blocksBack = 5_000n;
const holdersTried = 10;

async function findHolder(
  client: PublicClient,
  token: Address,
): Promise<{ address: Address; balance: bigint } | undefined> {
  const latest = await client.getBlockNumber();
  const logs = await client.getLogs({
    address: token,
    event: getAbiItem({ abi: erc20Abi, name: "Transfer" }),
    fromBlock: latest > blocksBack ? latest - blocksBack : 0n,
    toBlock: latest,
  });
  const receivers = [...new Set(logs.map(({ args }) => args.to).filter((to) => to !== undefined))].slice(-holdersTried);
  const balances = await Promise.all(
    receivers.map((address) =>
      client
        .readContract({ abi: erc20Abi, address: token, functionName: "balanceOf", args: [address] })
        .catch(() => 0n),
    ),
  );
  const best = balances.reduce((at, balance, index) => (balance > (balances[at] ?? 0n) ? index : at), 0);
  const address = receivers[best];
  return address && balances[best]! > 0n ? { address, balance: balances[best]! } : undefined;
}

function wordOf(data: Hex): bigint {
  return data.length >= 66 ? hexToBigInt(data.slice(0, 66) as Hex) : 0n;
}

interface SimulateSchema {
  Method: "eth_simulateV1";
  Parameters: [object, string];
  ReturnType: ReadonlyArray<{ calls: ReadonlyArray<{ status: Hex; returnData: Hex }> }>;
}
