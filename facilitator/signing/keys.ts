import type { Secret } from "../../shared/env.ts";
import type { Log } from "../../shared/log.ts";
import type { Kms } from "./kms.ts";
import { KmsKey } from "./kms-key.ts";
import { localKey } from "./local-key.ts";
import type { SigningKey } from "./signing-key.ts";

/** Where a fee payer's key is: 32 bytes in hex, or the id of one in the KMS. */
export type KeySource = { readonly secret: Secret } | { readonly kms: string };

export function openKey(source: KeySource, { kms, log }: { kms?: Kms | undefined; log: Log }): SigningKey {
  if ("secret" in source) return localKey(Buffer.from(source.secret.reveal().replace(/^0x/, ""), "hex"));
  if (!kms) throw new Error("no KMS is configured");
  return new KmsKey(kms, source.kms, log);
}

/** Ids, ARNs and aliases. */
export const kmsKeyPattern = "[A-Za-z0-9:/_-]{1,2048}";
