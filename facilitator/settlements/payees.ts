import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Environment } from "../../shared/networks.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { isListed } from "../discovery/listing.ts";
import { encodeOpaque, oneOf, opaque, type Read } from "../http/query.ts";

/** An account that was paid here, over all networks of an environment and since the record begins. */
export interface Payee {
  readonly account: string;
  readonly received: number;
  readonly receivedVolume: bigint;
  readonly payers: number;
  readonly lastAt: Date;
  /** Of its listed resources the one that was paid for last, and how many there are. */
  readonly sells: { readonly id: string; readonly name: string; readonly listed: number } | undefined;
}

/** With their types: an index is of use to a comparison within one type. */
const columns = {
  payments: ["received", "bigint"],
  volume: ["received_volume", "numeric"],
  payers: ["payers", "bigint"],
} as const;
export type PayeeOrder = keyof typeof columns;
const payeeOrders = Object.keys(columns) as PayeeOrder[];

export const payeesQuery = {
  self: oneOf(["hide"] as const, "`hide` leaves self-payments out, whose rule `GET /` shows."),
  sort: oneOf(payeeOrders, "What is most first."),
  cursor: opaque(readPlace, "Where the page begins."),
};

function readPlace(decoded: string): { readonly value: string; readonly account: string } | undefined {
  const [, value, account] = /^(\d{1,60})\.([\w.:-]{1,100})$/.exec(decoded) ?? [];
  return value === undefined || account === undefined ? undefined : { value, account };
}

const bigintMax = 2n ** 63n - 1n;
const foreignCursor = () =>
  new ApiError("bad_request", "cursor must be one that a page in this order gave.", { body: { field: "cursor" } });

export interface PayeePage {
  readonly payees: readonly Payee[];
  readonly cursor: string | null;
}

interface Asked extends Partial<Read<typeof payeesQuery>> {
  readonly env: Environment;
  readonly limit: number;
}

/** Along the index that has the order. */
export async function listPayees(
  db: Queryable,
  { env, sort = "payments", cursor, limit, self }: Asked,
): Promise<PayeePage> {
  if (self === "hide") return listWithoutSelf(db, { env, sort, limit });
  const [column, type] = columns[sort];
  if (type === "bigint" && cursor && BigInt(cursor.value) > bigintMax) throw foreignCursor();
  const place = `$3::${type}`;
  const after = cursor ? `and ${column} <= ${place} and (${column} < ${place} or account > $4)` : "";
  const { rows } = await db.query({
    name: `list-payees ${sort} ${cursor ? "after" : ""}`,
    text: `
      select a.account, a.received, a.received_volume, a.payers, a.last_at, a.${column}::text as place, sells.*
        from (select * from accounts where env = $1 and received > 0 ${after}
               order by ${column} desc, account limit $2) as a ${withSold}
       order by a.${column} desc, a.account`,
    values: [env, limit + 1, ...(cursor ? [cursor.value, cursor.account] : [])],
  });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { payees: shown.map(asPayee), cursor: last ? encodeOpaque(`${last.place}.${last.account}`) : null };
}

const candidatesMax = 200;

/**
 * Of so many that have most with self-payments, those that have most without: one that comes after them has less than the least of
 * them. A self-payer paid one payee alone, so that all it ever paid is taken off there.
 */
async function listWithoutSelf(
  db: Queryable,
  { env, sort, limit }: { env: Environment; sort: PayeeOrder; limit: number },
): Promise<PayeePage> {
  const [column] = columns[sort];
  const { rows } = await db.query({
    name: `list-payees ${sort} without self`,
    text: `
      select a.*, sells.*
        from (select c.account, c.last_at, c.received - coalesce(self.paid, 0) as received,
                     c.received_volume - coalesce(self.volume, 0) as received_volume, c.payers - self.payers as payers
                from (select * from accounts where env = $1 and received > 0
                       order by ${column} desc, account limit ${candidatesMax}) as c
                     cross join lateral (
                       select sum(p.paid) as paid, sum(p.paid_volume) as volume, count(*) as payers from accounts p
                        where p.env = $1 and p.is_self_payer and p.first_payee = c.account) as self) as a ${withSold}
       where a.received > 0 order by a.${column} desc, a.account limit $2`,
    values: [env, limit],
  });
  return { payees: rows.map(asPayee), cursor: null };
}

/** SQL: of what the account `a` sells, what was paid for last. */
const withSold = `
  left join lateral (
    select r.id, coalesce(r.service_name, r.resource) as name, count(*) over () as listed
      from discovery_resources r
     where ${isListed}
       and r.id in (select resource_id from discovery_accepts where pay_to = lower(a.account))
     order by r.last_settled_at desc limit 1) as sells on true`;

// biome-ignore lint/suspicious/noExplicitAny: a row of accounts, with what it sells
function asPayee(row: any): Payee {
  return {
    account: row.account,
    received: toSafeNumber(row.received),
    receivedVolume: row.received_volume,
    payers: toSafeNumber(row.payers),
    lastAt: row.last_at,
    sells: row.id === null ? undefined : { id: String(row.id), name: row.name, listed: toSafeNumber(row.listed) },
  };
}

/** Listed resources that are paid into this wallet, the one paid for last first. */
export async function soldBy(
  db: Queryable,
  account: string,
): Promise<ReadonlyArray<{ readonly id: string; readonly name: string | null; readonly resource: string }>> {
  const { rows } = await db.query({
    name: "sold-by",
    text: `select r.id::text as id, r.service_name as name, r.resource from discovery_resources r
            where ${isListed} and r.id in (select resource_id from discovery_accepts where pay_to = lower($1))
            order by r.last_settled_at desc limit 10`,
    values: [account],
  });
  return rows;
}
