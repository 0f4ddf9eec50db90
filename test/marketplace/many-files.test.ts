import { expect, test } from "vitest";
import { Files } from "../../marketplace/files/files.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { connect } from "../../shared/postgres.ts";
import { freshDatabase } from "../support/postgres.ts";

test("of a creator with many files those of one agent are found without reading the others", async ({
  onTestFinished,
}) => {
  // One connection, which tells what it read.
  const db = connect(await freshDatabase("marketplace"), { poolMax: 1, applicationName: "many files" });
  onTestFinished(() => db.end());
  await db.query("insert into accounts (id, handle) values ('acc_maker', 'maker')");
  await db.query(
    `insert into agents (id, account_id, handle, slug, tool_name)
     select 'agt_' || slug, 'acc_maker', 'maker', slug, slug from unnest('{busy,quiet,idle}'::text[]) slug`,
  );
  await db.query(
    `insert into files (name, account_id, agent_id, bytes, created_at)
     select lpad(to_hex(n), 64, '0') || '.png', 'acc_maker', case when n <= 3 then 'agt_quiet' else 'agt_busy' end, 10,
       now() - n * interval '1 second'
     from generate_series(1, 5000) n`,
  );
  await db.query("vacuum analyze files");
  const files = new Files({ db, store: {} as never, publicUrl: "https://market.example", bytesPerAccount: 1 });
  const rowsRead = async (): Promise<number> => {
    await db.query("select pg_stat_force_next_flush()");
    const read =
      "select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_user_tables where relname = 'files'";
    return (await db.query(read)).rows[0].read;
  };
  const before = await rowsRead();
  const listed = async (agent?: string) => {
    const found = await files.list("acc_maker" as AccountId, { limit: 4, offset: 0, agent });
    return found.map((file) => `${Number.parseInt(file.name, 16)} ${file.agent}`);
  };
  const quiet = ["1 maker/quiet", "2 maker/quiet", "3 maker/quiet"];
  expect(await listed("Quiet")).toEqual(quiet);
  expect(await listed()).toEqual([...quiet, "4 maker/busy"]);
  expect([...(await listed("idle")), ...(await listed("unknown")), ...(await listed("\0"))]).toEqual([]);
  expect((await rowsRead()) - before).toBeLessThan(50);
});
