import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Secret } from "../shared/env.ts";
import { ApiError } from "../shared/errors.ts";

/**
 * Keeps creators' secrets unreadable at rest: AES-256-GCM, bound to the place the secret belongs to, so that a sealed
 * text moved to another place does not open. The first key seals; every key opens what it sealed, found by its id. Opening throws
 * ApiError 503 for a key that this copy does not have: while keys are exchanged others may.
 */
export function createSealer(keys: readonly Secret[]): Sealer {
  const ring = keys.map((key) => {
    const bytes = Buffer.from(key.reveal(), "base64");
    return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
  });
  return {
    seal: (text, place) => {
      const key = ring[0];
      if (!key) throw new ApiError("unavailable", "Secrets cannot be stored: MARKETPLACE_SEALING_KEY is not set.");
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key.bytes, nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${key.id}.${sealed.toString("base64url")}`;
    },
    open: (sealed, place) => {
      const [id, text = ""] = sealed.split(".");
      const key = ring.find((candidate) => candidate.id === id);
      if (!key) throw unopened(id);
      const bytes = Buffer.from(text, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", key.bytes, bytes.subarray(0, 12)).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString("utf8");
    },
  };
}

function unopened(id: string | undefined): ApiError {
  const cause = new Error(`no sealing key with the id ${id} is configured`);
  const message = "This copy of the service cannot read what it needs for that at the moment; try again shortly.";
  return new ApiError("unavailable", message, { cause, headers: { "retry-after": "5" } });
}

export interface Sealer {
  seal(text: string, place: string): string;
  open(sealed: string, place: string): string;
}
