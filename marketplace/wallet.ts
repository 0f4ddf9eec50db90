/** An address on a chain. */
export interface Wallet {
  /** CAIP-2. */
  readonly network: string;
  /** An account id on Hedera, an address on an EVM chain. */
  readonly address: string;
}
