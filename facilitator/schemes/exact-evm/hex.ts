/** Hexadecimal text as the chain writes it. */
export type Hex = `0x${string}`;

/** A 32-byte word, without `0x`. */
export const word = (value: bigint): string => value.toString(16).padStart(64, "0");
export const addressWord = (address: string): string => address.slice(2).toLowerCase().padStart(64, "0");

export const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text);
