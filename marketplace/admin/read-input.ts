import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction } from "../../shared/postgres.ts";
import type { AccountId, RunId } from "../ids.ts";
import { parse } from "../parse.ts";
import { askedInput, type Kept } from "../runs/kept-input.ts";
import { actTextMax, recordAct } from "./acts.ts";
import { withoutNul } from "./ids.ts";
import type { Operator } from "./operators.ts";

export const readInputRequest = z.strictObject({
  note: z.string().trim().min(1, "must say why").max(actTextMax).describe("Why, for operators alone."),
});

/**
 * What a run was asked. Reading it is an act: it is logged before it is shown, and the buyer sees that it was read. 404 when none
 * is kept.
 */
export async function readInputAs(db: Database, operator: Operator, asked: string, said: unknown): Promise<ReadInput> {
  const { note } = parse(readInputRequest, said, "invalid_value");
  const id = withoutNul(asked);
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ input: Kept; buyerId: AccountId | null }>(
      `select input, account_id as "buyerId" from runs where id = $1 and input is not null`,
      [id],
    );
    const row = rows[0];
    if (!row) throw new ApiError("not_found", "There is no such run, or its input was not kept.");
    const concerned = row.buyerId ? [{ accountId: row.buyerId, shown: id }] : [];
    await recordAct(tx, { operatorId: operator.id, act: "read_input", subject: id, note, concerned });
    return { run_id: id as RunId, input: askedInput(row.input) ?? {} };
  });
}

export interface ReadInput {
  readonly run_id: RunId;
  readonly input: Readonly<Record<string, string | number | boolean>>;
}
