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
  /** Among the listed resources that name this account, the one that brought it most; and how many name it. */
  readonly sells: (Sold & { readonly listed: number }) | undefined;
}

/** A listed resource; its name is what its server calls it. */
export interface Sold {
  readonly id: string;
  readonly name: string | undefined;
  readonly resource: string;
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
  cursor: opaque(readCursor, "Where the page begins."),
};

/** A payee's place in an order. */
interface Place {
  readonly value: string;
  readonly account: string;
}

/** After which payee a page begins. Without self-payments also: after which payee, with them, begin those that are looked at. */
interface Cursor {
  readonly after: Place | undefined;
  readonly from?: Place | undefined;
  readonly isWithoutSelf: boolean;
}

function readCursor(decoded: string): Cursor | undefined {
  const [one = "", other] = decoded.split("/", 2);
  const [first, second] = [readPlace(one), readPlace(other ?? "")];
  if ((one !== "" && !first) || (other && !second) || (!first && !second)) return undefined;
  return other === undefined
    ? { after: first, isWithoutSelf: false }
    : { from: first, after: second, isWithoutSelf: true };
}

function readPlace(text: string): Place | undefined {
  const [, value, account] = /^(\d{1,60})\.([\w.:-]{1,100})$/.exec(text) ?? [];
  return value === undefined || account === undefined ? undefined : { value, account };
}

const textOf = (place: Place | undefined) => (place ? `${place.value}.${place.account}` : "");

const bigintMax = 2n ** 63n - 1n;
const foreignCursor = () =>
  new ApiError("bad_request", "cursor must be one that a page in this order gave.", { body: { field: "cursor" } });

export interface PayeePage {
  readonly payees: readonly Payee[];
  readonly cursor: string | null;
}

interface Asked extends Partial<Read<typeof payeesQuery>> {
  readonly env: Environment;
  /** On which what they sell is paid for. */
  readonly networks: readonly string[];
  readonly limit: number;
}

export async function listPayees(
  db: Queryable,
  { sort = "payments", cursor, self, ...asked }: Asked,
): Promise<PayeePage> {
  if (cursor && cursor.isWithoutSelf !== (self === "hide")) throw foreignCursor();
  for (const place of [cursor?.after, cursor?.from]) {
    if (place && columns[sort][1] === "bigint" && BigInt(place.value) > bigintMax) throw foreignCursor();
  }
  const list = self === "hide" ? listWithoutSelf : listAll;
  return list(db, { ...asked, sort, from: cursor?.from, after: cursor?.after });
}

interface Page {
  readonly env: Environment;
  readonly networks: readonly string[];
  readonly sort: PayeeOrder;
  readonly limit: number;
  readonly from: Place | undefined;
  readonly after: Place | undefined;
}

/** Along the index that has the order. */
async function listAll(db: Queryable, { env, networks, sort, limit, after }: Page): Promise<PayeePage> {
  const [column] = columns[sort];
  const { rows } = await db.query({
    name: `list-payees ${sort} ${after ? "after" : ""}`,
    text: `
      select a.account, a.received, a.received_volume, a.payers, a.last_at, a.${column}::text as place, sells.*
        from (select * from accounts where env = $1 and received > 0 ${after ? behind(sort, 4) : ""}
               order by ${column} desc, account limit $2) as a ${withSold}
       order by a.${column} desc, a.account`,
    values: [env, limit + 1, networks, ...valuesOf(after)],
  });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { payees: shown.map(asPayee), cursor: last ? encodeOpaque(textOf(placeOf(last))) : null };
}

/** SQL: what comes after the place whose value and account are these parameters. */
function behind(sort: PayeeOrder, at: number): string {
  const [column, type] = columns[sort];
  return `and ${column} <= $${at}::${type} and (${column} < $${at}::${type} or account > $${at + 1})`;
}

const valuesOf = (place: Place | undefined) => (place ? [place.value, place.account] : []);

// biome-ignore lint/suspicious/noExplicitAny: a row of a list
const placeOf = ({ place, account }: any): Place => ({ value: place, account });

/** Payees that are looked at together; among them those with most without self-payments come first. */
export const lookedAtMax = 1_000;
const looksMax = 5;

/**
 * No index has the order without self-payments. So the payees with most with them are looked at, then as many more, until the page is
 * full: every payee is on one page, and in order among those it was looked at with.
 */
async function listWithoutSelf(db: Queryable, page: Page): Promise<PayeePage> {
  const payees: Payee[] = [];
  let { from, after } = page;
  for (let look = 1; ; look += 1) {
    const limit = page.limit - payees.length;
    const { rows, end } = await lookAt(db, { ...page, limit, from, after });
    const shown = rows.slice(0, limit);
    payees.push(...shown.map(asPayee));
    if (rows.length > limit)
      return { payees, cursor: encodeOpaque(`${textOf(from)}/${textOf(placeOf(shown.at(-1)))}`) };
    if (!end) return { payees, cursor: null };
    if (payees.length === page.limit || look === looksMax) return { payees, cursor: encodeOpaque(`${textOf(end)}/`) };
    [from, after] = [end, undefined];
  }
}

/**
 * Payees with their totals less self-payments, and the last one looked at where there may be more. A self-payer paid one payee alone, so
 * that all it ever paid is taken off there.
 */
async function lookAt(db: Queryable, { env, networks, sort, limit, from, after }: Page) {
  const [column] = columns[sort];
  const { rows } = await db.query({
    name: `list-payees ${sort} without self ${from ? "from" : ""} ${after ? "after" : ""}`,
    text: `
      with looked as materialized (
        select account, received, received_volume, payers, last_at from accounts
         where env = $1 and received > 0 ${from ? behind(sort, 4) : ""}
         order by ${column} desc, account limit ${lookedAtMax}
      ), net as (
        select c.account, c.last_at, c.received - coalesce(self.paid, 0) as received,
               c.received_volume - coalesce(self.volume, 0) as received_volume, c.payers - self.payers as payers
          from looked c cross join lateral (
                 select sum(p.paid)::bigint as paid, sum(p.paid_volume) as volume, count(*) as payers from accounts p
                  where p.env = $1 and p.is_self_payer and p.first_payee = c.account) as self
      )
      select a.*, a.${column}::text as place, ends.*, sells.*
        from (select ${column}::text as end_place, account as end_account, (select count(*) from looked)::int as looked_at
                from looked order by ${column}, account desc limit 1) as ends
             left join (select * from net where received > 0 ${after ? behind(sort, from ? 6 : 4) : ""}
                         order by ${column} desc, account limit $2) as a on true ${withSold}
       order by a.${column} desc, a.account`,
    values: [env, limit + 1, networks, ...valuesOf(from), ...valuesOf(after)],
  });
  const { looked_at: lookedAt = 0, end_place: value, end_account: account } = rows[0] ?? {};
  const end: Place | undefined = lookedAt === lookedAtMax ? { value, account } : undefined;
  // Where nothing is left, the end comes alone.
  return { rows: rows.filter((row) => row.account !== null), end };
}

/**
 * SQL: the listed resources that name this account on these networks, first the one for which most was settled into it. Any server may name
 * any wallet, and be paid for last at will: only what the wallet got costs something.
 */
const soldInto = (account: string, networks: string) => `
  from discovery_resources r
       cross join lateral (
         select coalesce(sum(w.settled_atomic), 0) as settled from listing_wallets w
          where w.resource_id = r.id and w.pay_to = lower(${account}) and w.network = any(${networks}::text[])) as its
 where ${isListed}
   and r.id in (select resource_id from discovery_accepts where pay_to = lower(${account}) and network = any(${networks}::text[]))
 order by its.settled desc, r.last_settled_at desc`;

/** SQL: what the account `a` sells on the networks $3. */
const withSold = `
  left join lateral (
    select r.id, r.service_name as name, r.resource, count(*) over () as listed ${soldInto("a.account", "$3")} limit 1) as sells on true`;

// biome-ignore lint/suspicious/noExplicitAny: a row of accounts, with what it sells
function asPayee(row: any): Payee {
  return {
    account: row.account,
    received: toSafeNumber(row.received),
    receivedVolume: row.received_volume,
    payers: toSafeNumber(row.payers),
    lastAt: row.last_at,
    sells: row.id === null ? undefined : { ...asSold(row), listed: toSafeNumber(row.listed) },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a row of discovery_resources
function asSold({ id, name, resource }: any): Sold {
  return { id: String(id), name: name ?? undefined, resource };
}

/** Listed resources that name this wallet on one of the networks, first those for which most was settled into it. */
export async function soldBy(db: Queryable, account: string, networks: readonly string[]): Promise<readonly Sold[]> {
  const { rows } = await db.query({
    name: "sold-by",
    text: `select r.id, r.service_name as name, r.resource ${soldInto("$1", "$2")} limit 10`,
    values: [account, networks],
  });
  return rows.map(asSold);
}
