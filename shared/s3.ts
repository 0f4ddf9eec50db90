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
  /** The whole object, within the time limit. */
  read(name: string): Promise<Buffer | undefined>;
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
  const ask = async <T>({ method, name, bytes, use }: Asked<T>): Promise<T> => {
    const overtime = new AbortController();
    const timer = setTimeout(() => overtime.abort(), timeoutMs);
    try {
      const response = await client.fetch(`${endpoint}/${bucket}/${name}`, {
        method,
        signal: overtime.signal,
        ...(bytes ? { body: bytes as Uint8Array<ArrayBuffer> } : {}),
      });
      if (response.ok || response.status === 404) return await use(response);
      await response.body?.cancel();
      throw new Error(`the bucket ${bucket} answered ${response.status} to ${method}`);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    put: (name, bytes) =>
      ask({
        method: "PUT",
        name,
        bytes,
        use: async ({ status, body }) => {
          await body?.cancel();
          // A missing bucket is a 404, too.
          if (status === 404) throw new Error(`there is no bucket ${bucket}`);
        },
      }),
    get: (name) => ask({ method: "GET", name, use: ifThere(async (response) => response) }),
    read: (name) =>
      ask({ method: "GET", name, use: ifThere(async (response) => Buffer.from(await response.arrayBuffer())) }),
    remove: (name) => ask({ method: "DELETE", name, use: async ({ body }) => await body?.cancel() }),
  };
}

interface Asked<T> {
  readonly method: "PUT" | "GET" | "DELETE";
  readonly name: string;
  readonly bytes?: Uint8Array;
  readonly use: (response: Response) => Promise<T>;
}

function ifThere<T>(use: (response: Response) => Promise<T>): (response: Response) => Promise<T | undefined> {
  return async (response) => {
    if (response.status !== 404) return use(response);
    await response.body?.cancel();
    return undefined;
  };
}
