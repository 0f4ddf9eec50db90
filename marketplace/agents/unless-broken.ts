import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { isDatabaseAway } from "../../shared/postgres.ts";
import { ReadTimeoutError } from "../../shared/replica.ts";

/**
 * What a list shows of an agent: undefined, and logged, where the agent cannot be read, so that the others are still listed. Throws what
 * keeps every agent from being read: a list without them would say that they are gone.
 */
export async function unlessBroken<T>(log: Log, address: string, describe: () => Promise<T>): Promise<T | undefined> {
  try {
    return await describe();
  } catch (error) {
    const cause = error instanceof ApiError ? error.cause : error;
    if (isDatabaseAway(cause) || cause instanceof ReadTimeoutError) throw error;
    log.warn({ err: cause ?? error, agent: address }, "an agent cannot be listed");
    return undefined;
  }
}
