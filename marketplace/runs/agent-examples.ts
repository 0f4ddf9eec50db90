import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { unstorableIn } from "../../shared/request-body.ts";
import type { Output } from "../connectors/result.ts";
import { historyDays } from "../history-days.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import type { Values } from "../input.ts";
import { runId } from "./history.ts";
import { askedInput, type Kept } from "./kept-input.ts";
import { outputLetGoText } from "./kept-outputs.ts";
import { hiddenImages, noSuchRun } from "./own-run.ts";

export const examplesMax = 6;
const outputCharactersMax = 32_768;

/** A run of the creator's own that an agent's page shows. */
export interface AgentExample {
  readonly runId: RunId;
  readonly version: number;
  readonly input: Values;
  /** Without images that were taken down since. */
  readonly output: Output;
  readonly tookMs: number;
  readonly ranAt: Date;
}

/**
 * Shows a run on its agent's page: one that succeeded, of an agent of the account's own, run by the account itself. 404 for any other
 * account's run, 409 where there is nothing to show or too much is shown already. Again changes nothing.
 */
export async function showExample(db: Database, accountId: AccountId, id: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{
      agentId: AgentId;
      isOwn: boolean;
      state: string;
      input: object | null;
      output: object | null;
      receipt: object | null;
      characters: number | null;
    }>(
      `select r.agent_id as "agentId", a.account_id = r.account_id as "isOwn", r.state, r.input, r.receipt,
         case when length(r.output::text) <= ${outputCharactersMax} then r.output end as output, length(r.output::text) as characters
       from runs r join agents a on a.id = r.agent_id
       where r.id = $1 and r.account_id = $2 and r.created_at > now() - interval '${historyDays} days' for update of a`,
      [runId.test(id) ? id : "", accountId],
    );
    const run = rows[0];
    if (!run) throw noSuchRun();
    if (!run.isOwn) throw new ApiError("conflict", "Examples are runs of agents of your own.");
    if (run.state !== "succeeded") throw new ApiError("conflict", "A run can be an example once it has succeeded.");
    if (run.characters === null) throw new ApiError("conflict", outputLetGoText);
    if (run.characters > outputCharactersMax) {
      throw new ApiError("conflict", `What it gave has over ${outputCharactersMax} characters: too many for a page.`);
    }
    if (!run.input) throw new ApiError("conflict", "Its input was too long to be kept, so it shows little.");
    if (unstorableIn([run.input, run.output, run.receipt], "it")) {
      throw new ApiError(
        "conflict",
        "What it was asked or gave holds a character that is none (NUL, or half of a surrogate pair).",
      );
    }
    const { rowCount: shown } = await tx.query("select from agent_examples where agent_id = $1 and run_id <> $2", [
      run.agentId,
      id,
    ]);
    if ((shown ?? 0) >= examplesMax) {
      throw new ApiError("conflict", `An agent shows ${examplesMax} examples at most: take one away first.`);
    }
    await tx.query(
      `insert into agent_examples (agent_id, run_id, version, input, output, receipt, took_ms, ran_at)
       select agent_id, id, agent_version, input, output, receipt,
         greatest(extract(epoch from finished_at - created_at) * 1000, 0)::integer, created_at
       from runs where id = $1 on conflict do nothing`,
      [id],
    );
  });
}

/** Takes an example away. 404 for what is no example of an agent of the account's own. */
export async function removeExample(db: Queryable, accountId: AccountId, id: string): Promise<void> {
  const { rowCount } = await db.query(
    `delete from agent_examples e using agents a where a.id = e.agent_id and a.account_id = $1 and e.run_id = $2`,
    [accountId, runId.test(id) ? id : ""],
  );
  if (rowCount !== 1) throw new ApiError("not_found", "That is no example of an agent of yours.");
}

/** Whether the run is shown on its agent's page; undefined where it cannot be, since the agent is another's or it gave nothing. */
export async function isExample(db: Queryable, accountId: AccountId, id: string): Promise<boolean | undefined> {
  const { rows } = await db.query<{ shown: boolean }>(
    `select exists (select from agent_examples e where e.agent_id = r.agent_id and e.run_id = r.id) as shown
     from runs r join agents a on a.id = r.agent_id and a.account_id = r.account_id
     where r.id = $1 and r.account_id = $2 and r.state = 'succeeded' and r.input is not null and r.output is not null`,
    [id, accountId],
  );
  return rows[0]?.shown;
}

/** The examples of an agent, newest first. */
export async function readExamples(db: Queryable, agentId: AgentId): Promise<readonly AgentExample[]> {
  const { rows } = await db.query<Omit<AgentExample, "input"> & { input: Kept }>({
    name: "read examples",
    text: `select run_id as "runId", version, input, output, took_ms as "tookMs", ran_at as "ranAt" from agent_examples
           where agent_id = $1 order by created_at desc, run_id limit ${examplesMax}`,
    values: [agentId],
  });
  return Promise.all(
    rows.map(async (row) => ({
      ...row,
      input: askedInput(row.input) ?? {},
      output: withoutHidden(row.output, await hiddenImages(db, row.output)),
    })),
  );
}

function withoutHidden(output: Output, hidden: readonly string[]): Output {
  if (!("images" in output)) return output;
  return { ...output, images: output.images.filter((address) => !hidden.includes(address)) };
}
