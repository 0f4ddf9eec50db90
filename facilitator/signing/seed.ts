import { mnemonicToSeedSync, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english";
import { HDKey } from "viem/accounts";
import { type EnvReader, Secret } from "../../shared/env.ts";

/**
 * The first `…_FEE_PAYER_COUNT` private keys of `…_FEE_PAYER_SEED`, as wallets derive the accounts of an EVM chain (BIP-44,
 * m/44'/60'/0'/0/i). None without a seed.
 */
export function readSeedKeys(env: EnvReader, prefix: string): readonly Secret[] {
  const name = `${prefix}_FEE_PAYER_SEED`;
  const text = env.optional(name);
  const count = env.integer(`${prefix}_FEE_PAYER_COUNT`, 1, { min: 1, max: countMax });
  if (text === undefined) return [];
  const seed = seedOf(text);
  if (!seed) return env.problem(`${name} is neither a BIP-39 mnemonic nor 16 to 64 bytes in hex after 0x`, []);
  const accounts = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'/0");
  return Array.from({ length: count }, (_, index) => {
    const { privateKey } = accounts.deriveChild(index);
    return new Secret(`0x${Buffer.from(privateKey as Uint8Array).toString("hex")}`);
  });
}

function seedOf(text: string): Uint8Array | undefined {
  if (/^0x([0-9a-fA-F]{2}){16,64}$/.test(text)) return Buffer.from(text.slice(2), "hex");
  const mnemonic = text.split(/\s+/).join(" ");
  return validateMnemonic(mnemonic, wordlist) ? mnemonicToSeedSync(mnemonic) : undefined;
}

const countMax = 1_000;
