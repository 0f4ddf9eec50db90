import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  hexToBigInt,
  type PublicClient,
  toEventSelector,
} from "viem";
import { readLogs } from "../evm-logs.ts";

/**
 * Tries a transfer between a holder and a stranger without making it, and says what the stranger gets. Undefined when
 * it cannot be tried: the endpoint does not simulate, or no holder of the token is known.
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

/** An address that no wallet has. */
const stranger = "0x000000000000000000000000000000000000c0de";
const transferTopic = toEventSelector("Transfer(address,address,uint256)");
const blocksBack = 5_000n;
const holdersTried = 10;

async function findHolder(
  client: PublicClient,
  token: Address,
): Promise<{ address: Address; balance: bigint } | undefined> {
  const receivers = await findReceivers(client, token);
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

/** The latest. A busy token has thousands of transfers in a few blocks, so that only the newest are asked for at first. */
async function findReceivers(client: PublicClient, token: Address): Promise<readonly Address[]> {
  const latest = await client.getBlockNumber();
  const found = new Set<string>();
  await readLogs(
    client,
    { address: token, topics: [transferTopic] },
    { from: latest > blocksBack ? latest - blocksBack : 0n, to: latest, step: 16n, stepMax: blocksBack },
    ({ topics }) => {
      if (topics[2]) found.add(topics[2].slice(-40));
      return found.size < holdersTried;
    },
  );
  return [...found].map((hex) => getAddress(`0x${hex}`));
}

function wordOf(data: Hex): bigint {
  return data.length >= 66 ? hexToBigInt(data.slice(0, 66) as Hex) : 0n;
}

interface SimulateSchema {
  Method: "eth_simulateV1";
  Parameters: [object, string];
  ReturnType: ReadonlyArray<{ calls: ReadonlyArray<{ status: Hex; returnData: Hex }> }>;
}
