import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import S3rver from "s3rver";
import { refusalOfSignature } from "../../infra/signature-v4.ts";
import { Secret } from "../../shared/env.ts";
import type { S3Config } from "../../shared/s3.ts";
import { startHttpServer } from "./http-server.ts";

const key = "S3RVER";
const known = { accessKeyId: key, secretAccessKey: key };

/** An S3-compatible service with one bucket, which knows one key, takes nothing that it has not signed, and like one with object lock nothing without a checksum. */
export async function startBucket(name: string): Promise<TestBucket> {
  const directory = await mkdtemp(join(tmpdir(), "bucket-"));
  const s3 = new S3rver({ silent: true, directory, configureBuckets: [{ name, configs: [] }] });
  await s3.configureBuckets();
  const serve = s3.callback();
  // By itself it takes requests without a signature, and any signature of version 4.
  const server = await startHttpServer((request, response) => {
    const { method = "", url: path = "", headers } = request;
    const bodyHash = String(headers["x-amz-content-sha256"]);
    const refusal = refusalOfSignature({ method, path, headers, bodyHash }, "s3", known);
    if (refusal) response.writeHead(403).end(refusal);
    // https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
    else if (method === "PUT" && !headers["content-md5"]) response.writeHead(400).end("<Code>InvalidRequest</Code>");
    else serve(request, response);
  });
  const endpoint = server.url;
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
      await server.stop();
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
