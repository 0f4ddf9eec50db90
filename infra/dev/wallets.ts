import { createHash } from "node:crypto";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/**
 * PUBLIC DEVELOPMENT KEYS. Derived from words that all can read here, so that every machine has the same wallets.
 * Money sent to them on a real network is lost at once. Another key is taken from DEV_EVM_<NAME>_KEY.
 */
export function evmWallets(env: Record<string, string | undefined>): EvmWallets {
  return {
    feePayer: wallet(env.DEV_EVM_FEE_PAYER_KEY ?? publicKeyOfAName("fee payer")),
    creator: wallet(env.DEV_EVM_CREATOR_KEY ?? publicKeyOfAName("creator")),
    buyer: wallet(env.DEV_EVM_BUYER_KEY ?? publicKeyOfAName("buyer")),
    platform: wallet(env.DEV_EVM_PLATFORM_KEY ?? publicKeyOfAName("platform")),
  };
}

export type EvmWallets = Readonly<Record<"feePayer" | "creator" | "buyer" | "platform", EvmWallet>>;

interface EvmWallet {
  readonly address: Hex;
  readonly privateKey: Hex;
}

/** Seals creators' secrets of the local stack only; as public as the rest of this file. */
export const developmentSealingKey = createHash("sha256").update("development sealing key").digest("base64");
/** Signs session cookies of the local stack. */
export const developmentSessionSecret = createHash("sha256").update("development session secret").digest("base64");

const publicKeyOfAName = (name: string) =>
  `0x${createHash("sha256").update(`public development key: ${name}`).digest("hex")}`;

function wallet(privateKey: string): EvmWallet {
  if (!/^0x[0-9a-fA-F]{64}$/.test(privateKey)) throw new Error("a DEV_EVM_…_KEY is not 0x and 64 hexadecimal digits");
  return { privateKey: privateKey as Hex, address: privateKeyToAccount(privateKey as Hex).address };
}
