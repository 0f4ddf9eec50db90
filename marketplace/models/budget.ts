import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AgentId } from "../ids.ts";

export const budgetMax = 1_000_000_000;

/** What an agent's models may cost its creator in a day (UTC), from the next run on; null is the operator's default. */
export async function setModelBudget(db: Queryable, agentId: AgentId, creditsPerDay: number | null): Promise<void> {
  const fits = creditsPerDay === null || (Number.isInteger(creditsPerDay) && creditsPerDay >= 0);
  if (!fits || (creditsPerDay ?? 0) > budgetMax) {
    throw new ApiError("invalid_value", `"credits_per_day" must be a whole number between 0 and ${budgetMax}.`, {
      body: { field: "credits_per_day" },
    });
  }
  await db.query("update agents set model_credits_per_day = $2 where id = $1", [agentId, creditsPerDay]);
}

/** What its creator set; null where the operator's default holds. */
export async function readOwnBudget(db: Queryable, agentId: AgentId): Promise<number | null> {
  const { rows } = await db.query<{ own: bigint | null }>(
    "select model_credits_per_day as own from agents where id = $1",
    [agentId],
  );
  const own = rows[0]?.own ?? null;
  return own === null ? null : toSafeNumber(own);
}
