import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import { secondsUntilTomorrow } from "../utc-day.ts";
import type { ModelFundsConfig } from "./funds-config.ts";
import { ModelCharge } from "./model-charge.ts";
import type { ModelUser } from "./version-model.ts";

/**
 * Lets a creator try an agent at the platform's cost, within the daily amounts that the operator allows: 429 past that of
 * the account or that of all; 422 for a model that is not offered. `work` gets the call's charge; a cost that was not borne
 * may be tried again.
 */
export async function withinTryAllowance<T>(
  db: Queryable,
  { triesPerAccount, triesOfAll }: ModelFundsConfig,
  accountId: AccountId,
  { model }: Pick<ModelUser, "model">,
  work: (charge: ModelCharge | undefined) => Promise<T>,
): Promise<T> {
  if (model?.pausedFor === "model_not_offered") {
    const body = { field: "settings.model" };
    throw new ApiError("invalid_value", '"settings.model" names a model that is not offered here.', { body });
  }
  const cost = model?.cost ?? 0n;
  if (!model || cost === 0n) return work(undefined);
  const { rows } = await db.query<{ outcome: string; day: string }>(
    "select claim_try($1, $2, $3, $4) as outcome, (now() at time zone 'utc')::date::text as day",
    [accountId, cost, triesPerAccount, triesOfAll],
  );
  const { outcome, day } = rows[0]!;
  if (outcome !== "ok") throw usedUp(outcome === "account" ? triesPerAccount : undefined);
  const charge = new ModelCharge(model.cost);
  try {
    return await work(charge);
  } finally {
    if (!charge.borne) {
      await db.query(
        "update try_days set spent = spent - $3 where subject in ('*', $1) and day = $2::date and spent >= $3",
        [accountId, day, cost],
      );
    }
  }
}

function usedUp(allowed: number | undefined): ApiError {
  const message =
    allowed === undefined
      ? "All the trying that is free today has been done; runs at the agent's price go on."
      : `Trying is free up to ${allowed} credits' worth of models a day (UTC) for an account.`;
  return new ApiError("rate_limited", message, { headers: { "retry-after": String(secondsUntilTomorrow()) } });
}
