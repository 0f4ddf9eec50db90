import { toSafeNumber } from "../../shared/amounts.ts";
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
  sort: oneOf(payeeOrders, "What is most first."),
  cursor: opaque(readPlace, "Where the page begins."),
};

function readPlace(decoded: string): { readonly value: string; readonly account: string } | undefined {
  const [, value, account] = /^(\d{1,60})\.([\w.:-]{1,100})$/.exec(decoded) ?? [];
  return value === undefined || account === undefined ? undefined : { value, account };
}

export interface PayeePage {
  readonly payees: readonly Payee[];
  readonly cursor: string | null;
}

/** Along the index that has the order. */
export async function listPayees(
  db: Queryable,
  { env, sort = "payments", cursor, limit }: { env: Environment; limit: number } & Partial<Read<typeof payeesQuery>>,
): Promise<PayeePage> {
  const [column, type] = columns[sort];
  const place = `$3::${type}`;
  const after = cursor ? `and ${column} <= ${place} and (${column} < ${place} or account > $4)` : "";
  const { rows } = await db.query({
    name: `list-payees ${sort} ${cursor ? "after" : ""}`,
    text: `
      select a.*, a.${column}::text as place, sells.*
        from (select * from accounts where env = $1 and received > 0 ${after}
               order by ${column} desc, account limit $2) as a
             left join lateral (
               select r.id, coalesce(r.service_name, r.resource) as name, count(*) over () as listed
                 from discovery_resources r
                where ${isListed}
                  and r.id in (select resource_id from discovery_accepts where pay_to = lower(a.account))
                order by r.last_settled_at desc limit 1) as sells on true
       order by a.${column} desc, a.account`,
    values: [env, limit + 1, ...(cursor ? [cursor.value, cursor.account] : [])],
  });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    payees: shown.map((row) => ({
      account: row.account,
      received: toSafeNumber(row.received),
      receivedVolume: row.received_volume,
      payers: toSafeNumber(row.payers),
      lastAt: row.last_at,
      sells: row.id === null ? undefined : { id: String(row.id), name: row.name, listed: toSafeNumber(row.listed) },
    })),
    cursor: last ? encodeOpaque(`${last.place}.${last.account}`) : null,
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
