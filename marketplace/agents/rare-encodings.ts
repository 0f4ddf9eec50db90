/**
 * What is seldom met and costs little to look for: base32 and base85 at any offset, bytes in binary and octal, code points, letters
 * that stand for others.
 */
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
    ...base85Alphabets.flatMap((alphabet) =>
      [0, 1, 2, 3].map((before) => base85Groups(bytes.subarray(before), alphabet)),
    ),
    ...otherLetters(word),
  ];
}

/** Each letter moved on by as many (ROT13 among them), and mirrored (Atbash): a model that is asked to does that. */
function otherLetters(word: string): string[] {
  if (!/[a-z]/i.test(word)) return [];
  const letters = word.toLowerCase();
  const mapped = (place: (at: number) => number) =>
    letters.replace(/[a-z]/g, (letter) => String.fromCharCode(97 + place(letter.charCodeAt(0) - 97)));
  const moved = Array.from({ length: 25 }, (_, by) => mapped((at) => (at + by + 1) % 26));
  return [...moved, mapped((at) => 25 - at)];
}

/** Adobe's (ASCII85) and ZeroMQ's. */
const base85Alphabets = [
  Array.from({ length: 85 }, (_, value) => String.fromCharCode(33 + value)).join(""),
  "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
];

/** Whole groups of four bytes, which are equal whatever stands around them. Empty where too few letters and digits are among them. */
function base85Groups(bytes: Buffer, alphabet: string): string {
  let text = "";
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const digits: string[] = [];
    for (let rest = bytes.readUInt32BE(at), n = 0; n < 5; n += 1, rest = Math.floor(rest / 85)) {
      digits.unshift(alphabet[rest % 85]!);
    }
    text += digits.join("");
  }
  return text.replace(/[^a-z0-9]/gi, "").length < base85LettersMin ? "" : text;
}

const base85LettersMin = 8;

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
