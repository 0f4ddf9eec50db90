/** Hexadecimal text as the chain writes it. */
export type Hex = `0x${string}`;

/** A 32-byte word, without `0x`. */
export function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}

export function addressWord(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, "0");
}

export function isAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text);
}

/** What a contract answers that reverts, knows no such call or is not there. */
export function isEmpty(value: unknown): value is "0x" {
  return typeof value !== "string" || value === "0x";
}
