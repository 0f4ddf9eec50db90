import type { Database } from "../../shared/postgres.ts";
import type { RequestCounts } from "../../shared/rate-limit.ts";

const windowSeconds = 60;

/** How often each caller called in its minute, counted in PostgreSQL so that copies of the daemon count together. */
export class CallCounts implements RequestCounts {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async increment(caller: string): Promise<{ totalHits: number; resetTime: Date }> {
    const { rows } = await this.#db.query({
      name: "count-calls",
      text: `
        insert into call_counts as counted (bucket, window_end, calls)
        values ($1, now() + make_interval(secs => $2), 1)
        on conflict (bucket) do update
          set calls = case when counted.window_end <= now() then 1 else counted.calls + 1 end,
              window_end = case when counted.window_end <= now() then excluded.window_end else counted.window_end end
        returning calls as "totalHits", window_end as "resetTime"`,
      values: [caller, windowSeconds],
    });
    return rows[0];
  }

  async decrement(caller: string): Promise<void> {
    await this.#db.query("update call_counts set calls = calls - 1 where bucket = $1 and calls > 0", [caller]);
  }

  async resetKey(caller: string): Promise<void> {
    await this.#db.query("delete from call_counts where bucket = $1", [caller]);
  }

  /** Deletes counts whose minute is over. */
  async sweep(): Promise<void> {
    await this.#db.query("delete from call_counts where window_end < now()");
  }
}
