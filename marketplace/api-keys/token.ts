import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const shape = /^amk_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** A new key: `amk_`, 32 random base62 characters (190 bits), and their CRC32 in six more. */
export function newToken(): string {
  let random = "";
  for (let n = 0; n < 32; n += 1) random += alphabet[randomInt(62)];
  return `amk_${random}${checksum(random)}`;
}

/** Whether the text can be a key at all. A typo or a made-up key fails here and costs no query. */
export function isWellFormed(token: string): boolean {
  const [, random, sum] = shape.exec(token) ?? [];
  return random !== undefined && checksum(random) === sum;
}

/** What is stored of a key; the key itself is random, so a fast hash is the right one. */
export function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** What may be shown of a key later. */
export function displayOf(token: string): { start: string; last4: string } {
  return { start: token.slice(0, 8), last4: token.slice(-4) };
}

function checksum(random: string): string {
  let sum = "";
  for (let rest = crc32(random), n = 0; n < 6; n += 1, rest = Math.floor(rest / 62)) sum = alphabet[rest % 62] + sum;
  return sum;
}
