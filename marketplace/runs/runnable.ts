import type { Call, Tools } from "../connectors/connector.ts";
import type { Spending } from "../connectors/reservations.ts";
import type { Result } from "../connectors/result.ts";
import type { Credits } from "../credits/amount.ts";
import type { ModelUser } from "../models/version-model.ts";

/**
 * The thing that runs, as a run sees it: one version of an agent (agents/version.ts makes it), or a drawing that the platform
 * sells (svg/products.ts). ModelUser adds its id, owner and address, and who bears what a model costs.
 */
export interface Runnable extends ModelUser {
  /** What log lines name it by: an agent's connector, or the product. */
  readonly connector: string;
  readonly priceCredits: Credits;
  readonly timeLimitMs: number;
  /** What a run does cannot be undone, so it is paid for first. */
  readonly permanent: boolean;
  /** A run writes down what it does before it does it (connectors/side-effect-journal.ts). */
  readonly hasEffects: boolean;
  readonly run: (call: RunnableCall, tools: Tools) => Promise<Result>;
  /** What a caller is told when it fails and the fault is the platform's: "The agent failed." when left out. */
  readonly failedText?: string;
  /** Tells before money moves whether a call can work; absent where there is nothing to ask. Throws RefusalError. */
  readonly precheck?: (call: RunnableCall, tools: Tools) => Promise<Spending>;
}

/** A connector's call without the creator's settings and secrets, which only the runnable knows. */
export type RunnableCall = Omit<Call<unknown>, "settings" | "secrets">;
