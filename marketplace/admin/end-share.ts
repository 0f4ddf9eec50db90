import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction } from "../../shared/postgres.ts";
import type { AccountId, RunId } from "../ids.ts";
import { parse } from "../parse.ts";
import { actTextMax, recordAct } from "./acts.ts";
import { withoutNul } from "./ids.ts";
import type { Operator } from "./operators.ts";

export const endShareRequest = z.strictObject({
  reason: z.string().trim().min(1, "must say why").max(actTextMax).describe("The account that shared it is told it."),
});

/** Takes away the link that an account shares its run by; the run stays the account's. 404 when it is not shared. */
export async function endShareAs(db: Database, operator: Operator, id: string, said: unknown): Promise<EndedShare> {
  const { reason } = parse(endShareRequest, said, "invalid_value");
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ run_id: RunId; account_id: AccountId }>(
      "delete from run_shares where run_id = $1 returning run_id, account_id",
      [withoutNul(id)],
    );
    const ended = rows[0];
    if (!ended) throw new ApiError("not_found", "There is no such run, or it is not shared any more.");
    const concerned = [{ accountId: ended.account_id, shown: ended.run_id }];
    await recordAct(tx, { operatorId: operator.id, act: "ended_share", subject: ended.run_id, reason, concerned });
    return { run_id: ended.run_id };
  });
}

interface EndedShare {
  readonly run_id: RunId;
}
