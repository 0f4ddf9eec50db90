import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** One-time codes of an authenticator app (RFC 6238 with what every app can do: SHA-1, 30 seconds, six digits). */

const stepSeconds = 30;
const digits = 6;
/** Steps by which the clocks of a telephone and a server may differ (RFC 6238 §5.2). */
const stepsOff = 1;

/** 160 random bits, as RFC 4226 §4 recommends. */
export function newSecret(): Buffer {
  return randomBytes(20);
}

/** The code of a moment's time step. */
export function codeAt(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const at = mac.readUInt8(mac.length - 1) & 0x0f;
  const truncated = mac.readUInt32BE(at) & 0x7fffffff;
  return String(truncated % 10 ** digits).padStart(digits, "0");
}

/** The time step of a moment, in milliseconds since 1970. */
export function stepAt(ms: number): number {
  return Math.floor(ms / 1_000 / stepSeconds);
}

/** The time step whose code this is, now or as far off as clocks may be; undefined when it is none of them. */
export function stepOfCode(secret: Buffer, code: string, ms = Date.now()): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const now = stepAt(ms);
  const steps = Array.from({ length: 2 * stepsOff + 1 }, (_, index) => now - stepsOff + index);
  return steps.find((step) => timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code)));
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Base32 (RFC 4648) without padding, as people type secrets into their app. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}

/** What an app reads to know the secret. */
export function otpauthUri(secret: Buffer, issuer: string, handle: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(handle)}`;
  return `otpauth://totp/${label}?${new URLSearchParams({ secret: base32(secret), issuer })}`;
}
