import {
  AbiDecodingDataSizeTooSmallError,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  erc20Abi,
  erc721Abi,
  getAddress,
  hexToBigInt,
  isAddressEqual,
  type PublicClient,
  toEventSelector,
  zeroAddress,
} from "viem";
import type { RawLog } from "../evm-logs.ts";
import type { Approval } from "./approval.ts";

/** What an event says that a wallet granted: an amount of an ERC-20, an NFT (ERC-721), or all of a collection (ERC-721, ERC-1155). */
export type Grant =
  | { readonly kind: "amount" | "collection"; readonly token: Address; readonly spender: Address }
  | { readonly kind: "nft"; readonly token: Address; readonly id: bigint };

const approvalForAll = toEventSelector("ApprovalForAll(address,address,bool)");
/** ERC-20 and ERC-721 have the first in common; only with NFTs has it three arguments among its topics. */
export const grantTopics = [toEventSelector("Approval(address,address,uint256)"), approvalForAll] as const;

/** Undefined for an event that grants nothing to anybody. */
export function grantOf({ address, topics: [topic, , spender, id] }: RawLog): Grant | undefined {
  if (!spender) return undefined;
  const token = getAddress(address);
  if (topic !== approvalForAll && id) return { kind: "nft", token, id: hexToBigInt(id) };
  const kind = topic === approvalForAll ? "collection" : "amount";
  return { kind, token, spender: getAddress(`0x${spender.slice(-40)}`) };
}

/** The same for all events about the same grant. */
export function grantName(grant: Grant): string {
  return `${grant.kind} ${grant.token} ${grant.kind === "nft" ? grant.id : grant.spender}`;
}

/** What is left of a grant, as its contract tells it. */
export type Open = Pick<Approval, "kind" | "spender" | "amount" | "unlimited" | "tokenId">;

/** Undefined when nothing is left, or the contract has no such grants; "unread" when the chain's node does not tell. */
export async function openOf(
  client: PublicClient,
  wallet: Address,
  grant: Grant,
): Promise<Open | "unread" | undefined> {
  switch (grant.kind) {
    case "amount":
      return openAmount(client, wallet, grant);
    case "collection":
      return openCollection(client, wallet, grant);
    case "nft":
      return openNft(client, wallet, grant);
  }
}

type Granted<Kind> = Pick<Extract<Grant, { readonly spender: Address }>, "token" | "spender"> & { readonly kind: Kind };

async function openAmount(client: PublicClient, wallet: Address, { token, spender }: Granted<"amount" | "collection">) {
  const contract = { abi: erc20Abi, address: token } as const;
  const amount = await told(client.readContract({ ...contract, functionName: "allowance", args: [wallet, spender] }));
  if (amount === "unread") return amount;
  if (!amount) return undefined;
  return { kind: "fungible", spender, amount, unlimited: amount >= unlimitedFrom } as const;
}

async function openCollection(
  client: PublicClient,
  wallet: Address,
  { token, spender }: Granted<"amount" | "collection">,
) {
  const contract = { abi: erc721Abi, address: token } as const;
  const args = [wallet, spender] as const;
  const isOpen = await told(client.readContract({ ...contract, functionName: "isApprovedForAll", args }));
  if (isOpen === "unread") return isOpen;
  return isOpen ? ({ kind: "nft", spender, unlimited: true } as const) : undefined;
}

/** A transfer ends the approval of an NFT, without an event that says so. */
async function openNft(client: PublicClient, wallet: Address, { token, id }: Extract<Grant, { readonly kind: "nft" }>) {
  const contract = { abi: erc721Abi, address: token, args: [id] } as const;
  const [owner, spender] = await Promise.all([
    told(client.readContract({ ...contract, functionName: "ownerOf" })),
    told(client.readContract({ ...contract, functionName: "getApproved" })),
  ]);
  if (owner === "unread" || spender === "unread") return "unread";
  if (!owner || !spender || !isAddressEqual(owner, wallet) || spender === zeroAddress) return undefined;
  return { kind: "nft", spender, amount: 1n, unlimited: false, tokenId: id } as const;
}

const unlimitedFrom = 2n ** 128n;

/** A contract's answer; undefined where it has no such function. */
function told<T>(reading: Promise<T>): Promise<T | "unread" | undefined> {
  return reading.catch((error: unknown) => (hasNoFunction(error) ? undefined : "unread"));
}

function hasNoFunction(error: unknown): boolean {
  return (
    error instanceof BaseError && error.walk((cause) => nothingThere.some((kind) => cause instanceof kind)) !== null
  );
}

/** The contract answered, and has no such function, or refused. */
const nothingThere = [ContractFunctionRevertedError, ContractFunctionZeroDataError, AbiDecodingDataSizeTooSmallError];
