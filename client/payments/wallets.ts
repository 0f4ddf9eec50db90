import type { TypedData } from "./eip3009.ts";

/** Who pays. An account of viem is an EvmAccount as it is, a PrivateKey of the Hedera SDK a HederaKey. */
export interface Wallets {
  readonly evm?: EvmAccount | undefined;
  readonly hedera?: HederaAccount | undefined;
}

export interface EvmAccount {
  readonly address: string;
  signTypedData(typedData: TypedData): Promise<string>;
}

export interface HederaAccount {
  /** `0.0.1234` */
  readonly accountId: string;
  readonly key: HederaKey;
}

export interface HederaKey {
  readonly publicKey: { toBytesRaw(): Uint8Array };
  /** Of an ECDSA key: over the bytes' keccak-256, r and s. */
  sign(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}
