import type { Queryable } from "../../shared/postgres.ts";
import { release } from "../credits/ledger.ts";
import type { Events } from "../events.ts";
import type { RunId } from "../ids.ts";

export const historyDays = 30;

/**
 * Ends the runs whose lease has lapsed, because the copy of the service that ran them died, and gives their credits
 * back. Any number of copies may do this at once: each run is ended once. Returns how many this call ended.
 */
export async function recoverLostRuns({ db, events }: Needs): Promise<number> {
  const { rows } = await db.query<{ id: RunId; rail: string }>(
    "select id, rail from runs where state = 'running' and lease_until < now() order by lease_until limit 500",
  );
  let ended = 0;
  for (const { id, rail } of rows) {
    const lost = rail === "credits" ? await releaseLost(db, id) : await markLost(db, id);
    if (!lost) continue;
    ended += 1;
    events.runLost({ runId: id, rail });
  }
  return ended;
}

/** Runs are kept for 30 days, what a key spent for two; what they moved stays in the ledger for good. */
export async function forgetOldRuns({ db }: Pick<Needs, "db">): Promise<void> {
  await db.query(
    `delete from runs where id in (
       select id from runs where state <> 'running' and finished_at < now() - interval '${historyDays} days' limit 5000)`,
  );
  await db.query("delete from key_days where day < now() - interval '2 days'");
}

/** Recovers at once and then `everyMs`; `stop` waits for what is under way. */
export function startRecovery(needs: Needs, everyMs: number): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const round = async (): Promise<void> => {
    try {
      await recoverLostRuns(needs);
      await forgetOldRuns(needs);
    } catch (error) {
      needs.events.recoveryFailed({ error });
    }
    if (!stopped) timer = setTimeout(() => (current = round()), everyMs);
  };
  let current = round();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return current;
    },
  };
}

interface Needs {
  readonly db: Queryable;
  readonly events: Events;
}

async function releaseLost(db: Queryable, id: RunId): Promise<boolean> {
  const error = "The service was interrupted while the agent ran.";
  const { endedHere } = await release(db, { id, state: "lost", error, onlyIfLapsed: true });
  return endedHere;
}

async function markLost(db: Queryable, id: RunId): Promise<boolean> {
  const { rowCount } = await db.query(
    `update runs set state = 'lost', finished_at = now(), lease_until = null
     where id = $1 and state = 'running' and lease_until < now()`,
    [id],
  );
  return rowCount === 1;
}
