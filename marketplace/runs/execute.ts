import { isDatabaseAway } from "../../shared/postgres.ts";
import { inSpan } from "../../shared/tracing.ts";
import type { Tools } from "../connectors/connector.ts";
import { outputJson } from "../connectors/output-json.ts";
import { notNow, RefusalError } from "../connectors/refusal.ts";
import {
  ConnectorError,
  OutcomeUnknownError,
  type Output,
  overtimeText,
  type Remedy,
  type Result,
} from "../connectors/result.ts";
import type { Events } from "../events.ts";
import type { AccountId, RunId } from "../ids.ts";
import { ModelCharge } from "../models/model-charge.ts";
import type { PreparedRun } from "./prepare.ts";
import { earlierResult } from "./side-effect-result.ts";

const outputBytesMax = 4_194_304;

/**
 * Runs the runnable once and says how it went; never throws. `deadlineMs` shortens the connector's own time
 * limit. Touches no money of the run. An effect under `effectKey` (the run's id unless said otherwise) happens once:
 * where an earlier run under it has done it, that one's result is the result.
 */
export async function executeRun(context: ExecuteNeeds, asked: AskedExecution): Promise<Outcome> {
  const { runId, prepared, deadlineMs, buyerId, effectKey = runId, modelCharge = ModelCharge.free() } = asked;
  const { runnable, input } = prepared;
  const timeLimitMs = Math.min(runnable.timeLimitMs, deadlineMs ?? Number.POSITIVE_INFINITY);
  const deadline = new AbortController();
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const overtime = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new ConnectorError(overtimeText, { timeLimitMs }));
      deadline.abort();
    }, timeLimitMs);
  });
  const ended = (outcome: string, detail: object = {}) => {
    const durationMs = Math.round(performance.now() - startedAt);
    context.events.connectorEnded({
      runId,
      agent: runnable.address,
      connector: runnable.connector,
      outcome,
      durationMs,
      ...detail,
    });
  };
  try {
    if ((runnable.model?.cost ?? 0n) > modelCharge.credits) throw new Error("what the model costs was not claimed");
    const { id, ownerId } = runnable;
    const call = { ...input, signal: deadline.signal, runId, effectKey, modelCharge, agent: { id, ownerId } };
    const run = async (): Promise<Result> => {
      const done = runnable.hasEffects ? await earlierResult(context.tools, effectKey) : undefined;
      return done ?? runnable.run(buyerId === undefined ? call : { ...call, buyerId }, context.tools);
    };
    const running = inSpan(`run ${runnable.connector}`, { agent: runnable.address }, run);
    // After the deadline its end changes nothing.
    running.catch(() => {});
    const { output, receipt } = await Promise.race([running, overtime]);
    if (outputJson(output).length > outputBytesMax) throw new ConnectorError("The agent answered too much.");
    ended("succeeded");
    return { success: true, output, ...(receipt === undefined ? {} : { receipt }) };
  } catch (thrown) {
    const error = isDatabaseAway(thrown) ? notNow(databaseAwayText, 5, (thrown as Error).message) : thrown;
    if (runnable.hasEffects && (error instanceof OutcomeUnknownError || !(await isClosed(context, effectKey)))) {
      ended("unknown", { reason: (error as Error).message });
      return { success: false, unknown: true, error: unknownText };
    }
    if (error instanceof ConnectorError) {
      ended("failed", { reason: error.message, ...error.detail });
      const refusal = error instanceof RefusalError ? error : undefined;
      return { success: false, error: error.message, remedy: error.remedy, ...(refusal && { refusal }) };
    }
    // Our own bug. Its message may quote anything, so the log gets its name and where it happened.
    ended("crashed", { errorName: (error as Error).name, at: placeOf(error) });
    return { success: false, error: runnable.failedText ?? "The agent failed.", remedy: "later" };
  } finally {
    clearTimeout(timer);
  }
}

export interface ExecuteNeeds {
  readonly events: Pick<Events, "connectorEnded">;
  readonly tools: Tools;
}

export interface AskedExecution {
  readonly runId: RunId;
  readonly prepared: PreparedRun;
  readonly deadlineMs?: number;
  /** The account that runs it, where it is an account. */
  readonly buyerId?: AccountId;
  /** Whose lookups before a run count together, where it is no account: the payer of a payment, or an address. */
  readonly caller?: string | undefined;
  /** What the effect happens once for: a payment buys one, however many runs it takes. */
  readonly effectKey?: string;
  /** Set where the run's model costs something. */
  readonly modelCharge?: ModelCharge | undefined;
}

export type Outcome =
  | { readonly success: true; readonly output: Output; readonly receipt?: object }
  /** With `unknown` the end is not known yet: nothing is charged or given back until the chain has told. */
  | {
      readonly success: false;
      readonly error: string;
      readonly unknown?: true;
      readonly remedy?: Remedy;
      readonly refusal?: RefusalError;
    };

export const unknownText =
  "It is not known yet whether this was done on the chain. Do not run it again: the run is charged when it turns out " +
  "that it was done, and refunded when it was not.";

const databaseAwayText = "The marketplace's database did not answer; try again shortly.";

/** Whether the side-effect journal says, too, that nothing has happened and nothing can happen any more. */
async function isClosed({ tools }: Pick<ExecuteNeeds, "tools">, effectKey: string): Promise<boolean> {
  try {
    const effect = await tools.sideEffects.find(effectKey);
    return effect === undefined || effect.state === "void";
  } catch {
    return false;
  }
}

function placeOf(error: unknown): string | undefined {
  return (error as Error).stack
    ?.split("\n")
    .find((line) => line.startsWith("    at "))
    ?.trim();
}
