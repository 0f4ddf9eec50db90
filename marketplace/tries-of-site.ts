import { siteOf, siteShares } from "../shared/client-address.ts";
import type { Queryable } from "../shared/postgres.ts";

/** Where tries a day (UTC) are counted by client. */
type TriesTable = "svg_tries" | "home_tries";

/** Counts one more of today's tries for the client's site; false when it had `siteShares` times what one client may have. */
export async function claimTryOfSite(
  db: Queryable,
  table: TriesTable,
  client: string,
  perClient: number,
): Promise<boolean> {
  const site = siteOf(client);
  if (site === undefined) return true;
  const credits = table === "home_tries" ? { column: ", credits", value: ", 0" } : { column: "", value: "" };
  const { rowCount } = await db.query(
    `insert into ${table} as t (client, day, tries${credits.column})
     values ($1, (now() at time zone 'utc')::date, 1${credits.value})
     on conflict (client, day) do update set tries = t.tries + 1 where t.tries < $2`,
    [site, siteShares * perClient],
  );
  return rowCount === 1;
}

/** Takes back one that was counted on `day`. */
export async function returnTryOfSite(db: Queryable, table: TriesTable, client: string, day: string): Promise<void> {
  const site = siteOf(client);
  if (site === undefined) return;
  await db.query(`update ${table} set tries = tries - 1 where client = $1 and day = $2::date and tries > 0`, [
    site,
    day,
  ]);
}
