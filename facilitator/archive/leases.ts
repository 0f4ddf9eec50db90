import type { Database, Queryable } from "../../shared/postgres.ts";
import { recordedNetworks } from "../settlements/scope.ts";

/** A network's day that one copy archives: any other copy takes another. */
export interface Lease {
  readonly network: string;
  /** `2026-11-20`, of UTC. */
  readonly day: string;
}

interface Needs {
  readonly db: Database;
  readonly holder: string;
  readonly leaseSeconds: number;
}

/** Leases that others hold and that are passed over before a network is left for the next round. */
const passedMax = 60;

/** The oldest day of a network that has ended records, is over for `afterDays`, and that no other copy archives. */
export async function takeDay(needs: Needs, afterDays: number): Promise<Lease | undefined> {
  for (const network of await recordedNetworks(needs.db)) {
    let day = await nextDay(needs.db, { network, from: "-infinity", afterDays });
    for (let passed = 0; day !== undefined && passed < passedMax; passed += 1) {
      if (await keepLease(needs.db, needs, { network, day })) return { network, day };
      day = await nextDay(needs.db, { network, from: day, afterDays });
    }
  }
  return undefined;
}

/** After the day `from`. */
async function nextDay(
  db: Queryable,
  { network, from, afterDays }: { network: string; from: string; afterDays: number },
): Promise<string | undefined> {
  const { rows } = await db.query({
    name: "next-day-to-archive",
    text: `
      select (min(oldest.created_at) at time zone 'utc')::date::text as day
        from unnest(array['settled', 'failed']) as asked (status) cross join lateral (
             select created_at from transactions
              where network = $1 and status = asked.status
                and created_at >= ($2::timestamp + interval '1 day') at time zone 'utc'
                and created_at < (date_trunc('day', now() at time zone 'utc') - make_interval(days => $3)) at time zone 'utc'
              order by created_at, id limit 1) as oldest`,
    values: [network, from, afterDays],
  });
  return rows[0]?.day ?? undefined;
}

/** Takes or prolongs a lease; false while another copy has it. */
export async function keepLease(
  db: Queryable,
  { holder, leaseSeconds }: Pick<Needs, "holder" | "leaseSeconds">,
  { network, day }: Lease,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "keep-archive-lease",
    text: `
      insert into archive_leases as l (network, day, holder, lease_until)
      values ($1, $2, $3, now() + make_interval(secs => $4))
      on conflict (network, day) do update set holder = excluded.holder, lease_until = excluded.lease_until
        where l.holder = excluded.holder or l.lease_until < now()`,
    values: [network, day, holder, leaseSeconds],
  });
  return rowCount === 1;
}

export async function endLease(db: Queryable, holder: string, { network, day }: Lease): Promise<void> {
  await db.query("delete from archive_leases where network = $1 and day = $2 and holder = $3", [network, day, holder]);
}
