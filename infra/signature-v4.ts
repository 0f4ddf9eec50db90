import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface SignedRequest {
  readonly method: string;
  /** The path as received: percent-encoded, with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** SHA-256 of the body in hex, or what stands for it. */
  readonly bodyHash: string;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

type Refusal = "unknown key" | "incomplete" | "wrong";

/**
 * Why stand-ins for services of AWS refuse a request: by the specification of Signature Version 4, not by the library that callers sign
 * with. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function refusalOfSignature(request: SignedRequest, service: string, known: Credentials): Refusal | undefined {
  const { method, path, headers, bodyHash } = request;
  const scheme =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
  const [, accessKeyId, day = "", region = "", named, list = "", signature = ""] =
    scheme.exec(headers.authorization ?? "") ?? [];
  if (accessKeyId !== known.accessKeyId) return "unknown key";
  const names = list.split(";");
  const needed = Object.keys(headers).filter((name) => name === "host" || name.startsWith("x-amz-"));
  if (named !== service || ["x-amz-date", ...needed].some((name) => !names.includes(name))) return "incomplete";
  const at = String(headers["x-amz-date"]);
  const time = Date.parse(at.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!at.startsWith(day) || !(Math.abs(Date.now() - time) < 300_000)) return "wrong";
  const [pathname = "", query = ""] = path.split("?");
  const lines = names.map((name) => `${name}:${String(headers[name] ?? "").trim()}\n`);
  const canonical = [method, pathname, query.split("&").toSorted().join("&"), lines.join(""), list, bodyHash].join(
    "\n",
  );
  const toSign = ["AWS4-HMAC-SHA256", at, `${day}/${region}/${service}/aws4_request`, sha256(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${known.secretAccessKey}`,
  );
  return timingSafeEqual(hmac(key, toSign), Buffer.from(signature, "hex")) ? undefined : "wrong";
}

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
