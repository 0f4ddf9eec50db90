import { BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError, parseAbi, zeroAddress } from "viem";
import { ApiError } from "../../shared/errors.ts";
import { stablecoinOn } from "../stablecoins.ts";
import type { Wallet } from "../wallet.ts";
import { type Chains, refuseToGuess } from "./wallet-proof.ts";

export const walletReasons = [
  "not_offered",
  "no_such_account",
  "deleted",
  "receiver_signature_required",
  "not_associated",
  "frozen",
  "kyc_revoked",
  "burnt",
  "another_key",
] as const;

/** Why a wallet cannot be paid, or agents do not act with it (`another_key`): a word for programs, a sentence for its owner. */
export interface WalletProblem {
  readonly reason: (typeof walletReasons)[number];
  readonly text: string;
}

/** Why a wallet cannot be paid now; undefined when it can be. 503 when the chain does not answer. */
export async function problemOf(chains: Chains, wallet: Wallet): Promise<WalletProblem | undefined> {
  const asset = stablecoinOn(wallet.network)?.asset;
  if (!asset) return problem("not_offered", `Nothing can be paid on ${wallet.network}.`);
  return wallet.network.startsWith("eip155:")
    ? problemOnEvm(chains, wallet, asset as `0x${string}`)
    : problemOnHedera(chains, wallet, asset);
}

async function problemOnHedera({ hedera }: Chains, { network, address }: Wallet, asset: string) {
  if (hedera?.network !== network) throw new ApiError("unavailable", `${network} cannot be read here.`);
  const { mirror } = hedera;
  const account = await mirror.account(address).catch(refuseToGuess);
  if (!account) return problem("no_such_account", `There is no account ${address} on ${network}.`);
  if (account.deleted) return problem("deleted", `The account ${address} is deleted.`);
  if (account.receiver_sig_required) {
    const text = `The account ${address} has to sign for what it receives, so no buyer can pay it.`;
    return problem("receiver_signature_required", text);
  }
  const holding = await mirror.holding(address, asset).catch(refuseToGuess);
  if (!holding) return problem("not_associated", `The account ${address} is not associated with USDC (${asset}).`);
  if (holding.freeze_status === "FROZEN")
    return problem("frozen", `USDC (${asset}) is frozen for the account ${address}.`);
  if (holding.kyc_status === "REVOKED")
    return problem("kyc_revoked", `The account ${address} lacks the KYC grant of USDC (${asset}).`);
  return undefined;
}

async function problemOnEvm({ evm }: Chains, { network, address }: Wallet, asset: `0x${string}`) {
  const same = (other: string) => other.toLowerCase() === address.toLowerCase();
  if (same(zeroAddress) || same(asset)) return problem("burnt", `What is paid to ${address} is lost.`);
  const blocked = await evm
    .client(network)
    ?.readContract({ address: asset, abi: usdcAbi, functionName: "isBlacklisted", args: [address as `0x${string}`] })
    .catch(refuseUnlessAbsent);
  return blocked ? problem("frozen", `USDC refuses transfers to ${address}.`) : undefined;
}

function problem(reason: WalletProblem["reason"], text: string): WalletProblem {
  return { reason, text };
}

/** A token without a block list blocks no wallet. */
function refuseUnlessAbsent(error: unknown): false {
  const cause = error instanceof BaseError && error.walk(isAbsent);
  return cause ? false : refuseToGuess(error);
}

function isAbsent(error: unknown): boolean {
  return error instanceof ContractFunctionRevertedError || error instanceof ContractFunctionZeroDataError;
}

const usdcAbi = parseAbi(["function isBlacklisted(address) view returns (bool)"]);
