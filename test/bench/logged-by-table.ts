import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { tableOf } from "../drills/report.ts";

/** What the log says of a stretch of work, what is done for it after its answers, too: by table or index, and kind of record. */
export class LoggedByTable {
  readonly #server: pg.Client;
  #from = "";
  #until = "";

  constructor(server: pg.Client) {
    this.#server = server;
  }

  async while(work: () => Promise<unknown>): Promise<void> {
    await this.#server.query("create extension if not exists pg_walinspect");
    this.#from = await this.#position();
    await work();
    await pause(settledMs);
    this.#until = await this.#position();
  }

  async print(times: number): Promise<void> {
    const { rows } = await this.#server.query(byTable, [this.#from, this.#until, times]);
    const cells = rows.map(({ name, kind, each, bytes }) => [name ?? "", kind, each, bytes]);
    process.stdout.write(
      `\nOf the log, each time\n${tableOf(["table or index", "record", "records", "bytes"], cells)}\n`,
    );
  }

  async #position(): Promise<string> {
    const { rows } = await this.#server.query("select pg_current_wal_flush_lsn()::text as position");
    return rows[0].position;
  }
}

/** As long as it takes to roll up and list what was settled. */
const settledMs = 6_000;

/** A record counts for the first block that it names. */
const byTable = `
  with blocks as (
    select start_lsn, min(relfilenode::int8) filter (where block_id = 0) as filenode
      from pg_get_wal_block_info($1, $2, false) group by start_lsn
  )
  select coalesce(c.relname, b.filenode::text) as name, r.resource_manager || ' ' || r.record_type as kind,
         round(count(*)::numeric / $3, 2)::text as each, round(sum(r.record_length)::numeric / $3)::text as bytes
    from pg_get_wal_records_info($1, $2) r left join blocks b using (start_lsn)
    left join pg_class c on c.relfilenode = b.filenode
   group by 1, 2 having sum(r.record_length) >= 4 * $3::int
   order by sum(r.record_length) desc`;
