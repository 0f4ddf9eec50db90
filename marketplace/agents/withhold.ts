import { outputJson } from "../connectors/output-json.ts";
import { ConnectorError, OutcomeUnknownError, type Result } from "../connectors/result.ts";
import { SecretSearch } from "./secret-search.ts";

/**
 * Answers the run's result or throws its error, unless it contains one of the secrets that the run sent out: then the run
 * has failed, nothing of its answer goes any further, and the creator is told.
 */
export async function withoutSecrets(
  secrets: readonly string[],
  tellCreator: () => Promise<void>,
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Result> {
  if (secrets.length === 0) return run();
  const ended = await run().catch((error: unknown) => ({ error }));
  // Built only now, so that nothing is kept in the clear while others are waited for.
  if (!(await new SecretSearch(secrets).isIn(textOf(ended), signal))) {
    if ("error" in ended) throw ended.error;
    return ended;
  }
  // The run has failed whether or not the creator can be told now.
  await tellCreator().catch(() => {});
  throw new ConnectorError(withheld, {}, "again");
}

const withheld = "The agent's answer could not be given out; its creator has been told.";

/** All of it that a buyer or creator could come to see; what is thrown besides is logged by name alone. */
function textOf(ended: Result | { error: unknown }): string {
  if (!("error" in ended)) return `${outputJson(ended.output)} ${JSON.stringify(ended.receipt ?? null)}`;
  const { error } = ended;
  if (error instanceof ConnectorError) return JSON.stringify([error.message, error.detail]);
  if (error instanceof OutcomeUnknownError) return error.transactionId;
  return String((error as Error | undefined)?.name);
}
