import { ConnectorFailure, OutcomeUnknown, type Output, type Remedy, type Result } from "../connectors/connector.ts";
import { Refusal } from "../connectors/refusal.ts";
import type { Context } from "../context.ts";
import type { AccountId, RunId } from "../ids.ts";
import { ModelCharge } from "../models/model-charge.ts";
import type { PreparedRun } from "./prepare.ts";
import { settleEffect } from "./settle-effect.ts";

const outputBytesMax = 4_194_304;

/**
 * Runs the agent's connector once and says how it went; never throws. `deadlineMs` shortens the connector's own time
 * limit. Touches no money of the run. An effect under `effectKey` (the run's id unless said otherwise) happens once:
 * where an earlier run under it has done it, that one's result is the result.
 */
export async function executeRun(context: Pick<Context, "events" | "tools">, asked: AskedExecution): Promise<Outcome> {
  const { runId, prepared, deadlineMs, buyerId, effectKey = runId, modelCharge = ModelCharge.free() } = asked;
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
    if ((version.model?.cost ?? 0n) > modelCharge.credits) throw new Error("nobody has claimed what the model costs");
    const { id, ownerId } = agent;
    const call = { ...input, signal: deadline.signal, runId, effectKey, modelCharge, agent: { id, ownerId } };
    const run = async (): Promise<Result> => {
      const done = version.hasEffects ? await settleEffect(context.tools, effectKey) : undefined;
      return done ?? version.run(buyerId === undefined ? call : { ...call, buyerId }, context.tools);
    };
    const running = run();
    // After the deadline nobody listens any more.
    running.catch(() => {});
    const { output, receipt } = await Promise.race([running, overtime]);
    if (JSON.stringify(output).length > outputBytesMax) throw new ConnectorFailure("The agent answered too much.");
    ended("worked");
    return { success: true, output, ...(receipt === undefined ? {} : { receipt }) };
  } catch (error) {
    if (version.hasEffects && (error instanceof OutcomeUnknown || !(await isClosed(context, effectKey)))) {
      ended("unknown", { reason: (error as Error).message });
      return { success: false, unknown: true, error: unknownText };
    }
    if (error instanceof ConnectorFailure) {
      ended("failed", { reason: error.message, ...error.detail });
      const refusal = error instanceof Refusal ? error : undefined;
      return { success: false, error: error.message, remedy: error.remedy, ...(refusal && { refusal }) };
    }
    // Our own bug. Its message may quote anything, so the log gets its name and where it happened.
    ended("broke", { errorName: (error as Error).name, at: placeOf(error) });
    return { success: false, error: "The agent failed.", remedy: "later" };
  } finally {
    clearTimeout(timer);
  }
}

export interface AskedExecution {
  readonly runId: RunId;
  readonly prepared: PreparedRun;
  readonly deadlineMs?: number;
  /** Who runs it, where that is an account. */
  readonly buyerId?: AccountId;
  /** What the effect happens once for: a payment buys one, however many runs it takes. */
  readonly effectKey?: string;
  /** Of a run whose model costs something. */
  readonly modelCharge?: ModelCharge | undefined;
}

export type Outcome =
  | { readonly success: true; readonly output: Output; readonly receipt?: object }
  /** With `unknown` nobody can say yet: nothing is charged or given back until the ledger has told. */
  | {
      readonly success: false;
      readonly error: string;
      readonly unknown?: true;
      readonly remedy?: Remedy;
      readonly refusal?: Refusal;
    };

const unknownText =
  "It is not known yet whether this was done on the ledger. Do not run it again: the run is charged when it turns out " +
  "that it was done, and refunded when it was not.";

/** Whether the book says, too, that nothing has happened and nothing can happen any more. */
async function isClosed({ tools }: Pick<Context, "tools">, effectKey: string): Promise<boolean> {
  try {
    const effect = await tools.effects.find(effectKey);
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
