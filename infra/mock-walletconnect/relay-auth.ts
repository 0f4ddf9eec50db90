import { createPublicKey, verify } from "node:crypto";

/**
 * The client that a token names (`did:key:…`) if it is signed by that very key and holds now; undefined otherwise. A relay's clients
 * are their Ed25519 keys.
 */
export function clientOf(token: string): string | undefined {
  const [head = "", body = "", signature = ""] = token.split(".");
  try {
    const { iss, iat, exp } = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
    const now = Date.now() / 1_000;
    if (JSON.parse(Buffer.from(head, "base64url").toString("utf8")).alg !== "EdDSA") return undefined;
    if (!(iat <= now + 60 && exp > now)) return undefined;
    const key = keyOf(String(iss));
    const signed = Buffer.from(`${head}.${body}`);
    if (!key || !verify(null, signed, key, Buffer.from(signature, "base64url"))) return undefined;
    return String(iss);
  } catch {
    return undefined;
  }
}

/** `did:key:z…`: the key in base58btc, after two bytes that say that it is one of Ed25519. */
function keyOf(did: string) {
  const [, encoded = ""] = /^did:key:z([1-9A-HJ-NP-Za-km-z]{40,60})$/.exec(did) ?? [];
  let number = 0n;
  for (const digit of encoded) number = number * 58n + BigInt(base58.indexOf(digit));
  const bytes = Buffer.from(number.toString(16).padStart(68, "0"), "hex");
  if (bytes.length !== 34 || bytes.readUInt16BE(0) !== 0xed01) return undefined;
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), bytes.subarray(2)]);
  return createPublicKey({ key: der, format: "der", type: "spki" });
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
