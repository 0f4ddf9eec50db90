import {
  AbiDecodingDataSizeTooSmallError,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  erc20Abi,
  getAddress,
  type PublicClient,
  padHex,
  toEventSelector,
} from "viem";
import { answerOf, textOfContract } from "../evm.ts";
import { readLogs } from "../evm-logs.ts";
import { type Approval, listed } from "./approval.ts";

const rangeMax = 10_000n;
const pairsMax = 500;
/** Tokens are strangers' contracts, whose answers may each be as large as an answer may be. */
const readAtOnce = 8;
const unlimitedFrom = 2n ** 128n;
const approvalTopic = toEventSelector("Approval(address,address,uint256)");

/**
 * The ERC-20 approvals that a wallet has granted within the last `blocks` blocks and that are still open. Events say where
 * to look, and the tokens how much is left. Earlier grants are not seen; the answer says from which block on it looked, and
 * whether it read all.
 */
export async function readEvmApprovals(
  client: PublicClient,
  wallet: Address,
  blocks: bigint,
  signal: AbortSignal,
): Promise<object> {
  const latest = await client.getBlockNumber();
  const pairs = new Map<string, Pair>();
  // Newest first, so that the cap leaves out the oldest.
  const read = await readLogs(
    client,
    { topics: [approvalTopic, padHex(wallet, { size: 32 })] },
    { from: latest > blocks ? latest - blocks : 0n, to: latest, step: rangeMax, stepMax: rangeMax },
    ({ address: token, topics: [, , spender] }) => {
      if (spender) pairs.set(`${token} ${spender}`.toLowerCase(), { token, spender: `0x${spender.slice(-40)}` });
      return pairs.size < pairsMax;
    },
    signal,
  );
  const { approvals, unread } = await readApprovals(client, wallet, [...pairs.values()], signal);
  return {
    wallet,
    scanned: { from_block: Number(read.from), to_block: Number(latest), complete: read.complete && unread === 0 },
    ...listed(approvals),
  };
}

interface Pair {
  readonly token: Address;
  readonly spender: Address;
}

/** What the tokens say is left, and how many could not be asked. */
async function readApprovals(
  client: PublicClient,
  wallet: Address,
  pairs: readonly Pair[],
  signal: AbortSignal,
): Promise<{ approvals: readonly Approval[]; unread: number }> {
  const approvals: Approval[] = [];
  let unread = 0;
  const waiting = pairs.values();
  const readOn = async () => {
    for (const pair of waiting) {
      signal.throwIfAborted();
      const approval = await readApproval(client, wallet, pair);
      if (approval === "unread") unread += 1;
      else if (approval) approvals.push(approval);
    }
  };
  await Promise.all(Array.from({ length: readAtOnce }, readOn));
  return { approvals, unread };
}

/** Undefined when nothing is left of it, or the token has no allowances. */
async function readApproval(
  client: PublicClient,
  wallet: Address,
  pair: Pair,
): Promise<Approval | "unread" | undefined> {
  const [token, spender] = [getAddress(pair.token), getAddress(pair.spender)];
  const contract = { abi: erc20Abi, address: token } as const;
  const amount = await client
    .readContract({ ...contract, functionName: "allowance", args: [wallet, spender] })
    .catch((error: unknown) => (isNoAllowance(error) ? 0n : "unread"));
  if (amount === "unread") return amount;
  if (amount === 0n) return undefined;
  const [balance, symbol, code] = await Promise.all([
    answerOf(client.readContract({ ...contract, functionName: "balanceOf", args: [wallet] })).catch(
      () => "unread" as const,
    ),
    client.readContract({ ...contract, functionName: "symbol" }).catch(() => undefined),
    client.getCode({ address: spender }),
  ]);
  if (balance === "unread") return balance;
  const spenderIsContract = code !== undefined && code !== "0x";
  const shown = symbol === undefined ? undefined : textOfContract(symbol, 50);
  return {
    kind: "fungible",
    token,
    symbol: shown,
    spender,
    amount,
    unlimited: amount >= unlimitedFrom,
    balance: balance ?? 0n,
    spenderIsContract,
  };
}

function isNoAllowance(error: unknown): boolean {
  return (
    error instanceof BaseError && error.walk((cause) => nothingThere.some((kind) => cause instanceof kind)) !== null
  );
}

/** The contract answered, and has no such function. */
const nothingThere = [ContractFunctionRevertedError, ContractFunctionZeroDataError, AbiDecodingDataSizeTooSmallError];
