import { forEvery } from "../../shared/for-every.ts";
import { type Database, inTransaction, isDatabaseAway } from "../../shared/postgres.ts";
import type { Config } from "../config.ts";
import type { Tools } from "../connectors/connector.ts";
import { outputJson } from "../connectors/output-json.ts";
import { ConnectorError, OutcomeUnknownError } from "../connectors/result.ts";
import type { SideEffect } from "../connectors/side-effect-journal.ts";
import { type Credits, platformFee } from "../credits/amount.ts";
import { capture, isAbandoned, lockRun, release } from "../credits/holds.ts";
import type { Events } from "../events.ts";
import { dayCountsKeptDays, historyDays } from "../history-days.ts";
import type { AccountId, RunId } from "../ids.ts";
import type { Outcome } from "./execute.ts";
import { closeRun } from "./record.ts";
import { resultOf } from "./side-effect-result.ts";

/**
 * Ends the runs whose lease has lapsed, because the copy of the service that ran them died, and gives their credits
 * back; a run that had begun something on a chain ends as the chain says, and waits until it says something. Any
 * number of copies may do this at once: each run is ended once. Returns how many this call ended.
 */
export async function recoverLostRuns(needs: Needs): Promise<number> {
  const { db } = needs;
  const { rows } = await db.query<LapsedRun>(
    `select r.id, r.rail, r.price_credits as "priceCredits", a.account_id as "creatorId"
     from runs r join agents a on a.id = r.agent_id
     where r.state = 'running' and r.lease_until < now()
     -- Those whose end a chain tells come last: one that does not answer takes its time.
     order by exists (select from effects e where e.run_id = r.id and e.state <> 'void'), r.lease_until limit 500`,
  );
  let ended = 0;
  for (const run of rows) {
    // One that cannot be ended keeps none of the others waiting.
    const endedHere = await endLapsed(needs, run).catch((error: unknown) => {
      if (isDatabaseAway(error)) throw error;
      needs.events.runNotResolved({ runId: run.id, error });
      return false;
    });
    if (endedHere) ended += 1;
  }
  return ended;
}

async function endLapsed(needs: Needs, run: LapsedRun): Promise<boolean> {
  const { db, events, tools } = needs;
  const { id, rail } = run;
  const effect = await tools.sideEffects.findOfRun(id);
  if (effect && effect.state !== "void") return endAsChainSays(needs, run, effect);
  const lost = rail === "credits" ? await releaseLost(db, id) : await markLost(db, id);
  if (lost) events.runLost({ runId: id, rail });
  return lost;
}

/** Closes the effects whose runs are over, or never were rows: a creator's trial run, or a call that is not repeated. */
export async function closeOverdueSideEffects({ tools }: Pick<Needs, "tools">): Promise<void> {
  const { hedera, sideEffects } = tools;
  // Those of a network that was served before have nobody to tell of them here, and keep none of the others waiting.
  if (!hedera) return;
  await forEvery(await sideEffects.findOverdue(hedera.network, 100), (effect) => outcomeOf(tools, effect));
}

/** Runs are kept for `historyDays`, the daily sums of keys for `dayCountsKeptDays`; postings of runs stay in the credits ledger for good. */
export async function deleteOldRuns({ db }: Pick<Needs, "db">): Promise<void> {
  await db.query(
    `delete from runs where id in (
       select id from runs where state <> 'running' and finished_at < now() - interval '${historyDays} days' limit 5000)`,
  );
  await db.query(`delete from key_days where day < now() - interval '${dayCountsKeptDays} days'`);
}

interface Needs {
  readonly db: Database;
  readonly events: Events;
  readonly tools: Pick<Tools, "sideEffects" | "hedera">;
  readonly config: Pick<Config, "platformFeeBasisPoints">;
}

interface LapsedRun {
  readonly id: RunId;
  readonly rail: "credits" | "per_call";
  readonly priceCredits: Credits;
  readonly creatorId: AccountId;
}

/** False while the chain may still do what the run asked of it: it is asked again in a while. */
async function endAsChainSays(needs: Needs, run: LapsedRun, effect: SideEffect): Promise<boolean> {
  const { db, events, tools } = needs;
  const outcome = await outcomeOf(tools, effect);
  if (!outcome) {
    const later = "update runs set lease_until = now() + interval '15 s' where id = $1 and state = 'running'";
    await db.query(later, [run.id]);
    return false;
  }
  const state = outcome.success ? "succeeded" : "failed";
  events.runEnded({ runId: run.id, agent: "recovered", state });
  if (run.rail === "per_call") return closeRun(db, run.id, outcome);
  if (!outcome.success) return (await release(db, { id: run.id, state: "failed", error: outcome.error })).endedHere;
  const fee = platformFee(run.priceCredits, needs.config.platformFeeBasisPoints);
  const { output, receipt } = outcome;
  const captured = { id: run.id, creatorId: run.creatorId, fee, outputJson: outputJson(output), receipt };
  return (await capture(db, captured)).endedHere;
}

async function outcomeOf(tools: Needs["tools"], effect: SideEffect): Promise<Outcome | undefined> {
  try {
    return { success: true, ...(await resultOf(tools, effect)) };
  } catch (error) {
    if (error instanceof ConnectorError) return { success: false, error: error.message };
    if (error instanceof OutcomeUnknownError) return undefined;
    throw error;
  }
}

async function releaseLost(db: Database, id: RunId): Promise<boolean> {
  const error = "The service was interrupted while the agent ran.";
  const { endedHere } = await release(db, { id, state: "lost", error, onlyIfLapsed: true });
  return endedHere;
}

async function markLost(db: Database, id: RunId): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await lockRun(tx, id);
    const { rowCount } = await tx.query(
      `update runs set state = 'lost', finished_at = now(), lease_until = null
       where id = $1 and state = 'running' and ${isAbandoned("runs")}`,
      [id],
    );
    return rowCount === 1;
  });
}
