import { AwsClient } from "aws4fetch";
import type { Secret } from "../../shared/env.ts";
import type { FileStore } from "./store.ts";

const timeoutMs = 15_000;

/** A bucket of any S3-compatible service. */
export interface S3Config {
  /** Of the service, without the bucket. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
}

/** In a bucket that nobody else reads: files are served by this service, under its own policy. Throws when S3 does. */
export function s3Store({ endpoint, region, bucket, accessKeyId, secretAccessKey }: S3Config): FileStore {
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey: secretAccessKey.reveal(),
    region,
    service: "s3",
    retries: 2,
    initRetryMs: 100,
  });
  const ask = async (method: string, name: string, bytes?: Uint8Array): Promise<Response> => {
    const response = await client.fetch(`${endpoint}/${bucket}/${name}`, {
      method,
      signal: AbortSignal.timeout(timeoutMs),
      ...(bytes ? { body: bytes as Uint8Array<ArrayBuffer> } : {}),
    });
    if (response.ok || response.status === 404) return response;
    await response.body?.cancel();
    throw new Error(`the file store answered ${response.status} to ${method}`);
  };
  return {
    put: async (name, bytes) => {
      // A missing bucket is a 404, too.
      const { status } = await ask("PUT", name, bytes);
      if (status === 404) throw new Error(`the file store has no bucket ${bucket}`);
    },
    get: async (name) => {
      const response = await ask("GET", name);
      return response.status === 404 ? undefined : Buffer.from(await response.arrayBuffer());
    },
    remove: async (name) => void (await ask("DELETE", name)),
  };
}
