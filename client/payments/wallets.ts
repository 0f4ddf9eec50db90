import type { TypedData } from "./eip3009.ts";

/** The wallets that pay. A viem account is an EvmAccount as it is, a PrivateKey of the Hedera SDK a HederaKey. */
export interface Wallets {
  readonly evm?: EvmAccount | undefined;
  readonly hedera?: HederaAccount | undefined;
}

export interface EvmAccount {
  readonly address: string;
  signTypedData(typedData: TypedData): Promise<string>;
  /** Signs a text (EIP-191), by which a result whose answer was lost is fetched once more. */
  signMessage?(text: { readonly message: string }): Promise<string>;
}

export interface HederaAccount {
  /** `0.0.1234` */
  readonly accountId: string;
  readonly key: HederaKey;
}

export interface HederaKey {
  readonly publicKey: { toBytesRaw(): Uint8Array };
  /** An ECDSA key signs the keccak-256 of the bytes, and answers r and s. */
  sign(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}
