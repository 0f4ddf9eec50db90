import { columnsShown } from "./record-shape.ts";

/** Which of the filters of /transactions are given. */
interface Filters {
  readonly network: unknown;
  readonly payer: unknown;
  readonly pay_to: unknown;
  readonly resource: unknown;
  readonly self: unknown;
}

type Narrowing = "network" | "payer" | "pay_to" | "resource";

/** Records that a page looks at, at most, of each place and status. */
export const lookedAtMax = 1_000;

/** One bound at each end: with two, PostgreSQL may enter the index at either, and reads through all that lies between them. */
export const inPlaceAndTime = `
  (t.created_at, t.id) < (coalesce(timestamptz 'epoch' + $3::bigint * interval '1 microsecond', 'infinity'), $4::bigint)
  and t.created_at >= coalesce($10::timestamptz, '-infinity')`;
export const asFiltered = `
  ($6::text[] is null or t.payer = any($6)) and ($7::text[] is null or t.pay_to = any($7))
  and ($8::text is null or t.resource_url = $8)`;

/** Asked of each payer that is looked at: as `not exists` PostgreSQL reads all self-payers into a table of its own first. */
const isNoSelfPayment = `
  ($9::text is null or t.status = 'rejected' or coalesce((
     select not a.is_self_payer from accounts a where a.env = $9 and a.account = t.payer), true))`;

/** The statement that finds a page of the record: by one index alone, or by one index and what else is asked of its records. */
export function listStatement(filters: Filters): { readonly name: string; readonly text: string } {
  const narrowing = narrowingOf(filters);
  const hidesSelf = filters.self !== undefined;
  // An account's records may all be of other networks than are asked for, so they are looked through.
  return narrowing === "network" && !hidesSelf
    ? { name: "list-transactions", text: plainList }
    : { name: `list-some-transactions ${narrowing} ${hidesSelf}`, text: filteredList(narrowing, hidesSelf) };
}

/** By which index the page is found: the first of these filters that is asked for. */
function narrowingOf({ payer, pay_to: payTo, resource }: Filters): Narrowing {
  if (payer !== undefined) return "payer";
  if (payTo !== undefined) return "pay_to";
  return resource === undefined ? "network" : "resource";
}

/** Each place of an index with its newest records; few places, so the page is found without reading the rest. */
const places: Readonly<Record<Narrowing, { readonly from: string; readonly where: string }>> = {
  network: { from: "unnest($1::text[])", where: "t.network = place.name" },
  payer: { from: "unnest($6::text[])", where: "t.payer = place.name" },
  pay_to: { from: "unnest($7::text[])", where: "t.pay_to = place.name" },
  resource: { from: "unnest(array[$8::text])", where: "t.resource_url = place.name" },
};

/** By name: a column that a newer version adds changes nothing for the statements that a connection has prepared. */
const columns = ["id", ...columnsShown].map((name) => `t.${name}`).join(", ");

const micros = "(extract(epoch from t.created_at) * 1000000)::bigint";

const plainList = `
  select page.* from ${places.network.from} as place (name)
    cross join unnest($2::text[]) as asked_status (status)
    cross join lateral (
      select ${columns}, ${micros} as created_micros
        from transactions t
       where ${places.network.where} and t.status = asked_status.status
         and ${inPlaceAndTime} and ${asFiltered} and $9::text is not null
       order by t.created_at desc, t.id desc
       limit $5) as page
   order by page.created_at desc, page.id desc
   limit $5`;

/**
 * The statement looks at the newest records of each place and status until a page is full, and at `lookedAtMax` at most, however few fit.
 * Where that limit stops it, the page ends at the newest place where it stopped (its edge): beyond it another place might still have
 * newer records.
 */
function filteredList(narrowing: Narrowing, hidesSelf: boolean): string {
  const { from, where } = places[narrowing];
  return `
      with looked as materialized (
        select found.*
          from ${from} as place (name)
               cross join unnest($2::text[]) as asked_status (status)
               cross join lateral (
                 select * from (
                   select t.id, t.created_at, row_number() over (order by t.created_at desc, t.id desc) as looked_at,
                          t.network = any($1) and ${asFiltered} and ${hidesSelf ? isNoSelfPayment : "$9::text is not null"} as fits
                     from transactions t
                    where ${where} and t.status = asked_status.status and ${inPlaceAndTime}
                    order by t.created_at desc, t.id desc limit ${lookedAtMax}) as t
                  where fits or looked_at = ${lookedAtMax}
                  order by t.created_at desc, t.id desc limit $5) as found
      ), edge as (
        select created_at, id from looked where looked_at = ${lookedAtMax} order by created_at desc, id desc limit 1
      ), picked as (
        select id from looked
         where fits and (not exists (select from edge) or (created_at, id) >= (select created_at, id from edge))
         order by created_at desc, id desc limit $5
      )
      select ${columns}, ${micros} as created_micros,
             (extract(epoch from edge.created_at) * 1000000)::bigint as edge_micros, edge.id as edge_id
        from (select) as page left join edge on true left join picked on true left join transactions t on t.id = picked.id
       order by t.created_at desc, t.id desc`;
}
