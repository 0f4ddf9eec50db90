/** What is seldom met and costs little to look for: base32 at any offset, bytes in binary and octal, code points. */
export function rareEncodingsOf(word: string): string[] {
  const bytes = Buffer.from(word);
  const base32 = [0, 1, 2, 3, 4].map((before) => base32Values(bytes, before)).flatMap(inBase32);
  const codes = [...word].map((char) => char.codePointAt(0)!.toString(16));
  return [
    ...base32,
    [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join(""),
    [...bytes].map((byte) => byte.toString(8).padStart(3, "0")).join(""),
    codes.map((code) => code.padStart(8, "0")).join(""),
    codes.map((code) => `u${code.padStart(4, "0")}`).join(""),
    quotedPrintable(bytes),
  ];
}

/** RFC 4648's two, and Crockford's; in no case, as texts are searched. */
const base32Alphabets = [
  "abcdefghijklmnopqrstuvwxyz234567",
  "0123456789abcdefghijklmnopqrstuv",
  "0123456789abcdefghjkmnpqrstvwxyz",
];

function inBase32(values: readonly number[]): string[] {
  return base32Alphabets.map((alphabet) => values.map((value) => alphabet[value]).join(""));
}

/** The groups of five bits that are equal whatever stands around the bytes; `before` bytes stand in front. */
function base32Values(bytes: Buffer, before: number): number[] {
  const values: number[] = [];
  let [bits, count] = [0, 0];
  // Of the group that begins in the bytes before, the rest is left out.
  let skipped = (5 - ((before * 8) % 5)) % 5;
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    count += 8;
    if (skipped > 0) {
      count -= skipped;
      skipped = 0;
    }
    for (; count >= 5; count -= 5) values.push((bits >> (count - 5)) & 31);
    bits &= (1 << count) - 1;
  }
  return values;
}

/** The first characters of a text in base58, which depend on all of it: as a part of another it is not found. */
export function base58Start(word: string): string {
  const bytes = Buffer.from(word);
  const digits = Math.ceil((bytes.length * Math.log(256)) / Math.log(58));
  const dropped = 58n ** BigInt(Math.max(0, digits - base58Length));
  let text = "";
  for (let rest = BigInt(`0x0${bytes.toString("hex")}`) / dropped; rest > 0n; rest /= 58n) {
    text = base58Alphabet[Number(rest % 58n)] + text;
  }
  return text;
}

const base58Length = 60;
const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** As e-mails write it (RFC 2045). */
function quotedPrintable(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replace(/[^\x20-\x3c\x3e-\x7e]/g, (char) => `=${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
