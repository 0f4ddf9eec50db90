import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { networkOf } from "../../shared/networks.ts";
import type { ChainContext } from "./context.ts";
import { keyFromProto } from "./crypto/keys.ts";
import { addRelation } from "./handlers/relations.ts";
import { entityText, nanosPerSecond } from "./hapi/ids.ts";
import { feeCollectorNumber } from "./pipeline/handling.ts";
import type { Token } from "./state/entities.ts";
import { Journal } from "./state/journal.ts";
import { autoRenewSeconds, newAccount } from "./state/state.ts";

/** The stablecoin under its testnet id, so that configuration is the same as on testnet. */
export const usdcNumber = Number(networkOf("hedera:testnet")?.stablecoins[0]?.asset.split(".")[2]);
/** Holds all HBAR that no other account has. The faucet draws on it. */
export const treasuryNumber = 2;

/**
 * The accounts that exist from the start. Keys are derived from the name, so ids and keys are the same on every
 * machine: known to all and worth nothing anywhere else. No two accounts share a key.
 */
const seeded = {
  treasury: { number: treasuryNumber, hbar: 0n, usdc: null },
  feePayer: { number: 1_001, hbar: 10_000n, usdc: null },
  creator: { number: 1_002, hbar: 100n, usdc: 0n },
  buyer: { number: 1_003, hbar: 100n, usdc: 1_000_000_000n },
  platform: { number: 1_004, hbar: 100n, usdc: 0n },
  operator: { number: 1_005, hbar: 1_000n, usdc: 0n },
  usdcTreasury: { number: 1_006, hbar: 100n, usdc: 0n },
} as const satisfies Record<string, Seeded>;

export type SeededName = keyof typeof seeded;

export function seed(chain: ChainContext): void {
  const { state, clock } = chain;
  const journal = new Journal(chain.history);
  const createdAt = clock.now() - seededAge;
  const token = usdcToken(createdAt);
  seedSystemAccounts(chain);
  let inTreasury = totalHbar;
  for (const [name, { number, hbar, usdc }] of Object.entries(seeded)) {
    const key = keyFromProto({ ed25519: seededKey(name).publicKeyRaw })!;
    const account = state.addAccount(journal, newAccount({ number, createdAt, key, balance: hbar * tinybarsPerHbar }));
    inTreasury -= hbar;
    if (usdc === null) continue;
    const relation = addRelation({ journal, consensusAt: createdAt }, token, account);
    relation.balance = usdc;
    token.totalSupply += usdc;
  }
  state.accounts.get(treasuryNumber)!.balance = inTreasury * tinybarsPerHbar;
  state.tokens.set(usdcNumber, token);
}

/** Node accounts and the fee collector, those that are missing: a restored chain may have been given more nodes. */
export function seedSystemAccounts({ state, clock, history, nodes }: ChainContext): void {
  for (const number of [...nodes, feeCollectorNumber].filter((number) => !state.accounts.has(number))) {
    const key = keyFromProto({ ed25519: seededKey(`system ${number}`).publicKeyRaw })!;
    state.addAccount(new Journal(history), newAccount({ number, createdAt: clock.now() - seededAge, key }));
  }
}

export function seededAccounts(): Record<SeededName, SeededAccount> {
  return Object.fromEntries(
    Object.entries(seeded).map(([name, { number }]) => {
      const { privateKeyDer, privateKeyHex, publicKeyRaw } = seededKey(name);
      return [
        name,
        {
          accountId: entityText(number),
          kind: "ed25519",
          privateKey: privateKeyDer,
          privateKeyHex,
          publicKey: publicKeyRaw.toString("hex"),
        },
      ];
    }),
  ) as Record<SeededName, SeededAccount>;
}

const usdcToken = (createdAt: bigint): Token => {
  const key = keyFromProto({ ed25519: seededKey("usdcTreasury").publicKeyRaw })!;
  return {
    number: usdcNumber,
    name: "USD Coin",
    symbol: "USDC",
    memo: "",
    unique: false,
    decimals: 6,
    initialSupply: 0n,
    totalSupply: 0n,
    maxSupply: 0n,
    treasury: seeded.usdcTreasury.number,
    keys: { admin: key, freeze: key, wipe: key, supply: key, pause: key, feeSchedule: key },
    freezeDefault: false,
    paused: false,
    deleted: false,
    customFees: [],
    autoRenewAccount: null,
    autoRenewSeconds,
    metadata: Buffer.alloc(0),
    createdAt,
    modifiedAt: createdAt,
    lastSerial: 0,
    nfts: new Map(),
  };
};

const seededKey = (name: string): { privateKeyDer: string; privateKeyHex: string; publicKeyRaw: Buffer } => {
  const secret = createHash("sha256").update(`local-hedera seeded account: ${name}`).digest();
  const der = Buffer.concat([ed25519Pkcs8Prefix, secret]);
  const publicKey = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
  const publicKeyRaw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  return { privateKeyDer: der.toString("hex"), privateKeyHex: secret.toString("hex"), publicKeyRaw };
};

const ed25519Pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");
/** Seeded accounts and tokens are a day old from the start, so that a lagging mirror shows them at once. */
const seededAge = 86_400n * nanosPerSecond;
const tinybarsPerHbar = 100_000_000n;
const totalHbar = 50_000_000_000n;

/** `hbar` in whole HBAR, `usdc` in units of 10^-6; null = not associated. */
type Seeded = { number: number; hbar: bigint; usdc: bigint | null };

export type SeededAccount = {
  accountId: string;
  kind: "ed25519";
  /** DER, hex: what the SDK's `PrivateKey.fromStringDer` reads. */
  privateKey: string;
  /** The 32 raw bytes, hex. */
  privateKeyHex: string;
  /** The 32 raw bytes, hex. */
  publicKey: string;
};
