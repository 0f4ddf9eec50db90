import type { Key } from "../crypto/keys.ts";
import type { EntityNumber } from "../hapi/ids.ts";

export type Account = {
  number: EntityNumber;
  /** Null for a hollow account: created by a transfer to an EVM address, its key not yet seen. */
  key: Key | null;
  /** Tinybars. */
  balance: bigint;
  memo: string;
  /** The alias it was created with: a 20-byte EVM address or a serialized key. */
  alias: Buffer | null;
  evmAddress: Buffer | null;
  receiverSignatureRequired: boolean;
  /** −1 = unlimited. */
  autoAssociationsMax: number;
  autoAssociationsUsed: number;
  deleted: boolean;
  autoRenewSeconds: number;
  createdAt: bigint;
  relations: Map<EntityNumber, Relation>;
  /** By spender. */
  hbarAllowances: Map<EntityNumber, Allowance>;
  /** By `token/spender`. */
  tokenAllowances: Map<string, Allowance>;
  /** `token/spender` approved for every NFT of the token. */
  nftOperators: Map<string, true>;
};

export type Allowance = { granted: bigint; left: bigint; grantedAt: bigint };

/** What ties an account to a token: it exists exactly when the account is associated. */
export type Relation = {
  token: EntityNumber;
  balance: bigint;
  frozen: boolean;
  kycGranted: boolean;
  automatic: boolean;
  createdAt: bigint;
};

export type Token = {
  number: EntityNumber;
  name: string;
  symbol: string;
  memo: string;
  unique: boolean;
  decimals: number;
  initialSupply: bigint;
  totalSupply: bigint;
  /** 0 = infinite. */
  maxSupply: bigint;
  treasury: EntityNumber;
  keys: TokenKeys;
  freezeDefault: boolean;
  paused: boolean;
  deleted: boolean;
  customFees: CustomFee[];
  autoRenewAccount: EntityNumber | null;
  autoRenewSeconds: number;
  metadata: Buffer;
  createdAt: bigint;
  modifiedAt: bigint;
  lastSerial: number;
  nfts: Map<number, Nft>;
};

export type TokenKeyName = "admin" | "kyc" | "freeze" | "wipe" | "supply" | "feeSchedule" | "pause" | "metadata";
export type TokenKeys = Partial<Record<TokenKeyName, Key>>;

export type CustomFee = { collector: EntityNumber; allCollectorsAreExempt: boolean } & (
  | { kind: "fixed"; amount: bigint /** Null = HBAR. */; denomination: EntityNumber | null }
  | {
      kind: "fractional";
      numerator: bigint;
      denominator: bigint;
      minimum: bigint;
      /** 0 = no maximum. */
      maximum: bigint;
      netOfTransfers: boolean;
    }
);

export type Nft = {
  serial: number;
  owner: EntityNumber;
  spender: EntityNumber | null;
  metadata: Buffer;
  createdAt: bigint;
};

export type Topic = {
  number: EntityNumber;
  memo: string;
  adminKey: Key | null;
  submitKey: Key | null;
  autoRenewAccount: EntityNumber | null;
  autoRenewSeconds: number;
  sequence: number;
  runningHash: Buffer;
  createdAt: bigint;
  /** The newest messages, oldest first; older ones fall off at a cap. */
  messages: TopicMessage[];
};

export type TopicMessage = {
  sequence: number;
  consensusAt: bigint;
  message: Buffer;
  payer: EntityNumber;
  runningHash: Buffer;
  chunk: { payer: EntityNumber; validStart: bigint; number: number; total: number } | null;
};
