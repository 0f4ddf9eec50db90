import { type EnvReader, Secret } from "./env.ts";

/** Where all copies count requests together, other than in the database; it speaks the protocol of Redis. */
export interface ValkeyConfig {
  readonly url: Secret;
  /** How long a request waits for its count at most. */
  readonly answerWithinMs: number;
}

export function readValkey(env: EnvReader): ValkeyConfig | undefined {
  const url = env.optional("REDIS_URL");
  const answerWithinMs = env.integer("REDIS_TIMEOUT_MS", 50, { min: 1, max: 10_000 });
  if (url === undefined) return undefined;
  if (!/^rediss?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    env.problem("REDIS_URL must be a URL starting with redis:// or rediss://", undefined);
  }
  return { url: new Secret(url), answerWithinMs };
}
