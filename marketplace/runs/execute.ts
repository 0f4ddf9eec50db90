import type { Output } from "../connectors/connector.ts";
import { ConnectorFailure } from "../connectors/connector.ts";
import type { Context } from "../context.ts";
import type { RunId } from "../ids.ts";
import type { PreparedRun } from "./prepare.ts";

const outputBytesMax = 4_194_304;

/**
 * Runs the agent's connector once and says how it went; never throws. `deadlineMs` shortens the connector's own time
 * limit. Touches no money and writes no row.
 */
export async function executeRun(
  context: Pick<Context, "events" | "tools">,
  { runId, prepared, deadlineMs }: { runId: RunId; prepared: PreparedRun; deadlineMs?: number },
): Promise<Outcome> {
  const { agent, input } = prepared;
  const { version } = agent;
  const timeLimitMs = Math.min(version.timeLimitMs, deadlineMs ?? Number.POSITIVE_INFINITY);
  const deadline = new AbortController();
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const overtime = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new ConnectorFailure("The agent took too long.", { timeLimitMs }));
      deadline.abort();
    }, timeLimitMs);
  });
  const ended = (outcome: string, detail: object = {}) => {
    const durationMs = Math.round(performance.now() - startedAt);
    context.events.connectorEnded({
      runId,
      agent: agent.address,
      connector: version.connector,
      outcome,
      durationMs,
      ...detail,
    });
  };
  try {
    const run = version.run({ ...input, signal: deadline.signal }, context.tools);
    const { output, receipt } = await Promise.race([run, overtime]);
    if (JSON.stringify(output).length > outputBytesMax) throw new ConnectorFailure("The agent answered too much.");
    ended("worked");
    return { success: true, output, ...(receipt === undefined ? {} : { receipt }) };
  } catch (error) {
    if (error instanceof ConnectorFailure) {
      ended("failed", { reason: error.message, ...error.detail });
      return { success: false, error: error.message };
    }
    // Our own bug. Its message may quote anything, so the log gets its name and where it happened.
    ended("broke", { errorName: (error as Error).name, at: placeOf(error) });
    return { success: false, error: "The agent failed." };
  } finally {
    clearTimeout(timer);
  }
}

export type Outcome =
  | { readonly success: true; readonly output: Output; readonly receipt?: object }
  | { readonly success: false; readonly error: string };

function placeOf(error: unknown): string | undefined {
  return (error as Error).stack
    ?.split("\n")
    .find((line) => line.startsWith("    at "))
    ?.trim();
}
