import { type Address, erc20Abi, type PublicClient, padHex } from "viem";
import { answerOf, textOfContract } from "../evm.ts";
import { readLogs } from "../evm-logs.ts";
import { type Approval, listed } from "./approval.ts";
import { type Grant, grantName, grantOf, grantTopics, openOf } from "./evm-grants.ts";

const rangeMax = 10_000n;
const grantsMax = 500;
/** Tokens are strangers' contracts, whose answers may each be as large as an answer may be. */
const readAtOnce = 8;

/**
 * The approvals that a wallet has granted within the last `blocks` blocks and that are still open: of ERC-20 tokens, of single NFTs
 * and of whole collections. Events say where to look, and the contracts what is left. Earlier grants are not seen; the answer says
 * from which block on it looked, and whether it read all.
 */
export async function readEvmApprovals(
  client: PublicClient,
  wallet: Address,
  blocks: bigint,
  signal: AbortSignal,
): Promise<object> {
  const latest = await client.getBlockNumber();
  const grants = new Map<string, Grant>();
  // Newest first, so that the cap leaves out the oldest.
  const read = await readLogs(
    client,
    { topics: [[...grantTopics], padHex(wallet, { size: 32 })] },
    { from: latest > blocks ? latest - blocks : 0n, to: latest, step: rangeMax, stepMax: rangeMax },
    (log) => {
      const grant = grantOf(log);
      if (grant) grants.set(grantName(grant), grant);
      return grants.size < grantsMax;
    },
    signal,
  );
  const { approvals, unread } = await readApprovals(client, wallet, [...grants.values()], signal);
  return {
    wallet,
    scanned: { from_block: Number(read.from), to_block: Number(latest), complete: read.complete && unread === 0 },
    ...listed(approvals),
  };
}

/** What the contracts say is left, and how many could not be asked. */
async function readApprovals(
  client: PublicClient,
  wallet: Address,
  grants: readonly Grant[],
  signal: AbortSignal,
): Promise<{ approvals: readonly Approval[]; unread: number }> {
  const approvals: Approval[] = [];
  let unread = 0;
  const waiting = grants.values();
  const readOn = async () => {
    for (const grant of waiting) {
      signal.throwIfAborted();
      const approval = await readApproval(client, wallet, grant);
      if (approval === "unread") unread += 1;
      else if (approval) approvals.push(approval);
    }
  };
  await Promise.all(Array.from({ length: readAtOnce }, readOn));
  return { approvals, unread };
}

/** Undefined when nothing is left of it, or the contract has no such grants. */
async function readApproval(
  client: PublicClient,
  wallet: Address,
  grant: Grant,
): Promise<Approval | "unread" | undefined> {
  const { token } = grant;
  const open = await openOf(client, wallet, grant);
  if (open === "unread" || open === undefined) return open;
  const contract = { abi: erc20Abi, address: token } as const;
  const [balance, symbol, code] = await Promise.all([
    answerOf(client.readContract({ ...contract, functionName: "balanceOf", args: [wallet] })).catch(
      () => "unread" as const,
    ),
    client.readContract({ ...contract, functionName: "symbol" }).catch(() => undefined),
    client.getCode({ address: open.spender as Address }),
  ]);
  if (balance === "unread") return balance;
  const shown = symbol === undefined ? undefined : textOfContract(symbol, 50);
  return {
    ...open,
    token,
    symbol: shown,
    ...holdingOf(grant, balance),
    spenderIsContract: code !== undefined && code !== "0x",
  };
}

/** Of a single NFT the wallet holds that one. ERC-1155 has no balance of a whole collection, and nothing is made up in its place. */
function holdingOf({ kind }: Grant, balance: bigint | undefined): Pick<Approval, "balance"> {
  if (kind === "nft") return { balance: 1n };
  if (kind === "collection" && balance === undefined) return {};
  return { balance: balance ?? 0n };
}
