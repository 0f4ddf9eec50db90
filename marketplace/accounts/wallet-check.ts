import { BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError, parseAbi, zeroAddress } from "viem";
import { ApiError } from "../../shared/errors.ts";
import { stablecoinOn } from "../payments/stablecoins.ts";
import { type Ledgers, refuseToGuess, type Wallet } from "./wallet-proof.ts";

/** What keeps a wallet from being paid now, as a sentence to read; undefined when nothing does. 503 when nobody knows. */
export async function problemOf(ledgers: Ledgers, wallet: Wallet): Promise<string | undefined> {
  const asset = stablecoinOn(wallet.network)?.asset;
  if (!asset) return `Nothing can be paid on ${wallet.network}.`;
  return wallet.network.startsWith("eip155:")
    ? problemOnEvm(ledgers, wallet, asset as `0x${string}`)
    : problemOnHedera(ledgers, wallet, asset);
}

async function problemOnHedera({ hedera }: Ledgers, { network, address }: Wallet, asset: string) {
  if (hedera?.network !== network) throw new ApiError("unavailable", `${network} cannot be read here.`);
  const { mirror } = hedera;
  const account = await mirror.account(address).catch(refuseToGuess);
  if (!account) return `There is no account ${address} on ${network}.`;
  if (account.deleted) return `The account ${address} is deleted.`;
  if (account.receiver_sig_required)
    return `The account ${address} has to sign for what it receives, so nobody can pay it.`;
  const holding = await mirror.holding(address, asset).catch(refuseToGuess);
  if (!holding) return `The account ${address} is not associated with USDC (${asset}).`;
  if (holding.freeze_status === "FROZEN") return `USDC (${asset}) is frozen for the account ${address}.`;
  if (holding.kyc_status === "REVOKED") return `The account ${address} lacks the KYC grant of USDC (${asset}).`;
  return undefined;
}

async function problemOnEvm({ evm }: Ledgers, { network, address }: Wallet, asset: `0x${string}`) {
  const same = (other: string) => other.toLowerCase() === address.toLowerCase();
  if (same(zeroAddress) || same(asset)) return `What is paid to ${address} is lost.`;
  const blocked = await evm
    .client(network)
    ?.readContract({ address: asset, abi: usdcAbi, functionName: "isBlacklisted", args: [address as `0x${string}`] })
    .catch(refuseUnlessAbsent);
  return blocked ? `USDC refuses transfers to ${address}.` : undefined;
}

/** A token without a list blocks nobody. */
function refuseUnlessAbsent(error: unknown): false {
  const cause = error instanceof BaseError && error.walk(isAbsent);
  return cause ? false : refuseToGuess(error);
}

function isAbsent(error: unknown): boolean {
  return error instanceof ContractFunctionRevertedError || error instanceof ContractFunctionZeroDataError;
}

const usdcAbi = parseAbi(["function isBlacklisted(address) view returns (bool)"]);
