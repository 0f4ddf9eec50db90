import { siteOf, siteShares } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";

/** Wallets, which cost nothing to make, that may sign in for the first time in a day from one address: many telephones may share it. */
const perClientDay = 500;

/** Counts one more wallet that nobody signed in with lately, by who shows it and by their site. 429 past a day's. */
export async function countNewWallet(db: Queryable, client: string): Promise<void> {
  await countUpTo(db, client, perClientDay);
  const site = siteOf(client);
  if (site !== undefined) await countUpTo(db, site, siteShares * perClientDay);
}

async function countUpTo(db: Queryable, client: string, most: number): Promise<void> {
  const { rowCount } = await db.query(
    `insert into new_wallets as counted (client, day, wallets) values ($1, (now() at time zone 'utc')::date, 1)
     on conflict (client, day) do update set wallets = counted.wallets + 1 where counted.wallets < $2`,
    [client, most],
  );
  if (rowCount === 1) return;
  throw new ApiError(
    "rate_limited",
    "Enough new wallets signed in from here today. One that signed in lately still does, and paying per call needs no signing in.",
    { headers: { "retry-after": "3600" } },
  );
}
