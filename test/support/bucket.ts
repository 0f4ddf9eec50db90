import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import S3rver from "s3rver";
import { Secret } from "../../shared/env.ts";
import type { S3Config } from "../../shared/s3.ts";

const key = "S3RVER";

/** An S3-compatible service with one bucket, which knows one key (and does not check its signatures). */
export async function startBucket(name: string): Promise<TestBucket> {
  const directory = await mkdtemp(join(tmpdir(), "bucket-"));
  const configureBuckets = [{ name, configs: [] }];
  const server = new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets });
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    config: { endpoint, region: "us-east-1", bucket: name, accessKeyId: key, secretAccessKey: new Secret(key) },
    variables: (prefix, at = endpoint) => ({
      [`${prefix}_S3_ENDPOINT`]: at,
      [`${prefix}_S3_BUCKET`]: name,
      [`${prefix}_S3_ACCESS_KEY_ID`]: key,
      [`${prefix}_S3_SECRET_ACCESS_KEY`]: key,
    }),
    stop: async () => {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

export interface TestBucket {
  readonly endpoint: string;
  readonly config: S3Config;
  /** What a service reads it by; `at` is where it is reached, when that is through a proxy. */
  variables(prefix: string, at?: string): Record<string, string>;
  stop(): Promise<void>;
}
