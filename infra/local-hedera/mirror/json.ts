import type { Key } from "../crypto/keys.ts";

/** JSON as the mirror writes it: a bigint becomes a number with all its digits. */
export function toJson(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toJson(field)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

export function keyJson(key: Key | null | undefined) {
  if (!key) return null;
  if (key.kind === "list") return { _type: "ProtobufEncoded", key: key.encoded.toString("hex") };
  return { _type: key.kind === "ed25519" ? "ED25519" : "ECDSA_SECP256K1", key: key.hex };
}

/** An answer other than 200, in the mirror's own shape. */
export class MirrorError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "MirrorError";
    this.status = status;
  }
}

export function notFound(): never {
  throw new MirrorError(404, "Not found");
}

export function invalidParameter(name: string): never {
  throw new MirrorError(400, `Invalid parameter: ${name}`);
}
