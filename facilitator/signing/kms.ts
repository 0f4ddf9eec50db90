import { AwsClient } from "aws4fetch";
import type { EnvReader, Secret } from "../../shared/env.ts";
import { KeyAwayError, KeyBusyError } from "./signing-key.ts";

/** AWS KMS, or what speaks its protocol. */
export interface KmsConfig {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly timeoutMs: number;
}

/** Needed where a fee payer's key is `kms:<key>`. */
export function readKms(env: EnvReader, isNeeded: boolean): KmsConfig | undefined {
  const accessKeyId = env.optional("KMS_ACCESS_KEY_ID");
  const region = env.text("KMS_REGION", "us-east-1");
  const endpoint = env.url("KMS_ENDPOINT", `https://kms.${region}.amazonaws.com`);
  const timeoutMs = env.integer("KMS_TIMEOUT_MS", 2_000, { min: 100, max: 5_000 });
  if (accessKeyId === undefined) {
    if (isNeeded) env.problem("KMS_ACCESS_KEY_ID is missing: a fee payer's key is in a KMS", 0);
    return undefined;
  }
  return { endpoint, region, accessKeyId, secretAccessKey: env.secret("KMS_SECRET_ACCESS_KEY"), timeoutMs };
}

/** The two operations that signing needs, by the service's JSON protocol (version 1.1). */
export class Kms {
  readonly #config: KmsConfig;
  readonly #client: AwsClient;

  constructor(config: KmsConfig) {
    this.#config = config;
    const { region, accessKeyId } = config;
    const secretAccessKey = config.secretAccessKey.reveal();
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "kms", retries: 0 });
  }

  /** The public key of a secp256k1 key, as DER. Throws KeyAwayError. */
  publicKey(key: string): Promise<Buffer> {
    return this.#ask("GetPublicKey", { KeyId: key }, "PublicKey");
  }

  /** Signs a digest of 32 bytes. DER, s in either half. Throws KeyAwayError. */
  sign(key: string, digest: Uint8Array): Promise<Buffer> {
    // The name tells the service how long the digest is; by what it was made is no matter there.
    const algorithm = { MessageType: "DIGEST", SigningAlgorithm: "ECDSA_SHA_256" };
    return this.#ask(
      "Sign",
      { KeyId: key, Message: Buffer.from(digest).toString("base64"), ...algorithm },
      "Signature",
    );
  }

  async #ask(operation: "GetPublicKey" | "Sign", body: object, field: string): Promise<Buffer> {
    const { endpoint, timeoutMs } = this.#config;
    const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": `TrentService.${operation}` };
    const said = await this.#client
      .fetch(endpoint, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      })
      .then(async (response) => ({ status: response.status, body: readAnswer(await response.text()) }))
      .catch((cause: Error) => {
        throw new KeyAwayError(`the KMS does not answer: ${cause.message}`, { cause });
      });
    const { status, body: answer } = said;
    const found = answer[field];
    if (status === 200 && typeof found === "string") return Buffer.from(found, "base64");
    const why = [answer.__type, answer.message ?? answer.Message].filter((part) => typeof part === "string").join(": ");
    const isBusy = status === 429 || /Throttl|TooManyRequests/.test(String(answer.__type));
    throw new (isBusy ? KeyBusyError : KeyAwayError)(
      `the KMS answered ${status} to ${operation}${why && `, ${why.slice(0, 300)}`}`,
    );
  }
}

function readAnswer(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
