import { Readable } from "node:stream";
import { AwsClient } from "aws4fetch";
import type { Secret } from "../../shared/env.ts";
import { type FileStore, storeAway } from "./store.ts";

/** Until the answer begins, and all that is sent has gone out. */
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

/** In a bucket that only this service reads: it serves the files itself, under its own policy. */
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
    const overtime = new AbortController();
    const timer = setTimeout(() => overtime.abort(), timeoutMs);
    let response: Response;
    try {
      response = await client.fetch(`${endpoint}/${bucket}/${name}`, {
        method,
        signal: overtime.signal,
        ...(bytes ? { body: bytes as Uint8Array<ArrayBuffer> } : {}),
      });
    } catch (error) {
      throw storeAway(error);
    } finally {
      clearTimeout(timer);
    }
    if (response.ok || response.status === 404) return response;
    await response.body?.cancel();
    throw storeAway(new Error(`the file store answered ${response.status} to ${method}`));
  };
  return {
    put: async (name, bytes) => {
      // A missing bucket is a 404, too.
      const { status } = await ask("PUT", name, bytes);
      if (status === 404) throw storeAway(new Error(`the file store has no bucket ${bucket}`));
    },
    open: async (name) => {
      const { status, headers, body } = await ask("GET", name);
      if (status !== 404 && body) {
        const length = headers.get("content-length");
        // Node's own type of the same stream.
        const stream = Readable.fromWeb(body as unknown as Parameters<typeof Readable.fromWeb>[0]);
        return { bytes: length === null ? undefined : Number(length), stream };
      }
      await body?.cancel();
      return undefined;
    },
    remove: async (name) => void (await ask("DELETE", name)),
  };
}
