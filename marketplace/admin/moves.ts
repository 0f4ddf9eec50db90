import type { Transaction } from "../../shared/postgres.ts";
import { noteMove } from "../accounts/suspension-emails.ts";
import type { AccountId } from "../ids.ts";
import { type ActName, recordAct } from "./acts.ts";

const acts: Readonly<Record<Move["of"], Readonly<Record<string, ActName>>>> = {
  account: { suspend: "suspended_account", restore: "restored_account" },
  agent: { suspend: "suspended_agent", restore: "restored_agent" },
};

/**
 * Writes down that an operator moved an account or an agent, in the transaction that does it: in the audit log, and for the
 * e-mail that tells the account why. Of other moves than suspending and restoring the log has nothing.
 */
export async function recordMove(tx: Transaction, { of, move, accountId, subject, ...said }: Move): Promise<void> {
  await noteMove(tx, { move, accountId, subject, reason: said.reason });
  const act = acts[of][move];
  if (act) await recordAct(tx, { ...said, act, subject, concerned: [{ accountId, shown: subject }] });
}

interface Move {
  readonly of: "account" | "agent";
  readonly move: string;
  readonly accountId: AccountId;
  /** A handle, or handle/slug. */
  readonly subject: string;
  /** Left out: from the command line. */
  readonly operatorId?: AccountId;
  readonly reason: string | undefined;
  readonly note?: string | undefined;
}
