import { type Address, erc20Abi, getAbiItem, getAddress, type PublicClient } from "viem";
import { type Approval, listed } from "./approval.ts";

const rangeMax = 10_000n;
const pairsMax = 500;
const unlimitedFrom = 2n ** 128n;
const approvalEvent = getAbiItem({ abi: erc20Abi, name: "Approval" });

/**
 * The ERC-20 approvals a wallet has granted within the last `blocks` blocks and that are still open: events say where
 * to look, the tokens themselves say what is left. What was granted earlier is not seen; the answer says from where on.
 */
export async function readEvmApprovals(
  client: PublicClient,
  wallet: Address,
  blocks: bigint,
  signal: AbortSignal,
): Promise<object> {
  const latest = await client.getBlockNumber();
  const first = latest > blocks ? latest - blocks : 0n;
  const pairs = new Map<string, { token: Address; spender: Address }>();
  // Newest first, so that the cap leaves out the oldest.
  for (let to = latest; to >= first && pairs.size < pairsMax; to -= rangeMax) {
    signal.throwIfAborted();
    const from = to - rangeMax + 1n > first ? to - rangeMax + 1n : first;
    const logs = await client.getLogs({ event: approvalEvent, args: { owner: wallet }, fromBlock: from, toBlock: to });
    for (const { address, args } of logs.toReversed()) {
      const token = getAddress(address);
      if (args.spender && pairs.size < pairsMax)
        pairs.set(`${token} ${args.spender}`.toLowerCase(), { token, spender: args.spender });
    }
  }
  const approvals = await Promise.all([...pairs.values()].map((pair) => readApproval(client, wallet, pair)));
  return {
    wallet,
    scanned: { from_block: Number(first), to_block: Number(latest), complete: pairs.size < pairsMax },
    ...listed(approvals.filter((approval) => approval !== undefined)),
  };
}

/** Undefined when nothing is left of it, or the token does not say. */
async function readApproval(
  client: PublicClient,
  wallet: Address,
  { token, spender }: { token: Address; spender: Address },
): Promise<Approval | undefined> {
  const contract = { abi: erc20Abi, address: token } as const;
  const amount = await client
    .readContract({ ...contract, functionName: "allowance", args: [wallet, spender] })
    .catch(() => 0n);
  if (amount === 0n) return undefined;
  const [balance, symbol, code] = await Promise.all([
    client.readContract({ ...contract, functionName: "balanceOf", args: [wallet] }).catch(() => 0n),
    client.readContract({ ...contract, functionName: "symbol" }).catch(() => undefined),
    client.getCode({ address: spender }),
  ]);
  const spenderIsContract = code !== undefined && code !== "0x";
  const shown = symbol?.replaceAll("\0", "").slice(0, 50);
  return {
    kind: "fungible",
    token,
    symbol: shown,
    spender,
    amount,
    unlimited: amount >= unlimitedFrom,
    balance,
    spenderIsContract,
  };
}
