import { createHash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import type { EnvReader, Secret } from "./env.ts";

/** Until the answer begins, and all that is sent has gone out; of what is read, until it is there. */
const timeoutMs = 15_000;

/** A bucket of any S3-compatible service. */
export interface S3Config {
  /** The service's address, without the bucket. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
}

/** `<prefix>_S3_ENDPOINT` and its companions; undefined without it. */
export function readS3(env: EnvReader, prefix: string): S3Config | undefined {
  if (env.optional(`${prefix}_S3_ENDPOINT`) === undefined) return undefined;
  return {
    endpoint: env.url(`${prefix}_S3_ENDPOINT`),
    region: env.text(`${prefix}_S3_REGION`, "us-east-1"),
    bucket: env.text(`${prefix}_S3_BUCKET`),
    accessKeyId: env.text(`${prefix}_S3_ACCESS_KEY_ID`),
    secretAccessKey: env.secret(`${prefix}_S3_SECRET_ACCESS_KEY`),
  };
}

export interface Bucket {
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined where there is no such object. The caller must read the body or cancel it. */
  get(name: string): Promise<Response | undefined>;
  /** The whole object, which has so many bytes, within the time limit; one that has more is an error. */
  read(name: string, bytes: number): Promise<Buffer | undefined>;
  remove(name: string): Promise<void>;
}

/** Every operation throws an error that tells no secret when the service is away or refuses; what was put then may be there all the same. */
export function openBucket({ endpoint, region, bucket, accessKeyId, secretAccessKey }: S3Config): Bucket {
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey: secretAccessKey.reveal(),
    region,
    service: "s3",
    retries: 2,
    initRetryMs: 100,
  });
  const ask = async <T>({ method, name, bytes, use }: Asked<T>): Promise<T | undefined> => {
    const overtime = new AbortController();
    const timer = setTimeout(() => overtime.abort(), timeoutMs);
    try {
      const response = await client.fetch(`${endpoint}/${bucket}/${name}`, {
        method,
        signal: overtime.signal,
        ...(bytes ? { body: bytes as Uint8Array<ArrayBuffer>, headers: { "content-md5": md5Of(bytes) } } : {}),
      });
      if (response.ok) return await use(response);
      if (method !== "PUT" && response.status === 404 && (await namesNoObject(response))) return undefined;
      await response.body?.cancel();
      throw new Error(`the bucket ${bucket} answered ${response.status} to ${method}`);
    } finally {
      clearTimeout(timer);
    }
  };
  const dropBody = async ({ body }: Response) => await body?.cancel();
  return {
    put: (name, bytes) => ask({ method: "PUT", name, bytes, use: dropBody }),
    get: (name) => ask({ method: "GET", name, use: async (response) => response }),
    read: (name, bytes) => ask({ method: "GET", name, use: (response) => readWhole(response, bytes) }),
    remove: (name) => ask({ method: "DELETE", name, use: dropBody }),
  };
}

/** A bucket with object lock takes nothing without it, and of the checksums it is the one that every service knows. */
function md5Of(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("base64");
}

interface Asked<T> {
  readonly method: "PUT" | "GET" | "DELETE";
  readonly name: string;
  readonly bytes?: Uint8Array;
  readonly use: (response: Response) => Promise<T>;
}

/** A bucket that is not there, and an address where something else answers, are 404s too. */
async function namesNoObject({ body }: Response): Promise<boolean> {
  return (await readBytes(body, errorBytesMax)).includes("<Code>NoSuchKey</Code>");
}

const errorBytesMax = 16_384;

async function readWhole({ body }: Response, bytes: number): Promise<Buffer> {
  const read = await readBytes(body, bytes + 1);
  if (read.length > bytes) throw new Error(`the bucket answered more than the ${bytes} bytes of an object`);
  return read;
}

/** The first so many bytes at most. */
async function readBytes(body: Response["body"], bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}
