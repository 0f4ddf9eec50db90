import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { keepRollUpsOut } from "../rollup-lock.ts";
import { usdcAmount } from "../usdc-amount.ts";
import { isListed, listedDays, resourceDays } from "./listing.ts";
import type { ListingRequest } from "./listing-requests.ts";
import { type Problem, permanent, transient } from "./ownership.ts";
import type { AcceptedRequirements } from "./payment-requirements.ts";
import type { Declaration } from "./validate.ts";

/** Per wallet and host, so that a server that names a wallet which is not its own takes no place from the owner's hosts. */
export const resourcesMax = 50;
const operationsPerMinuteMax = 10;
/** Route templates with one beginning, of all wallets. */
const templatesMax = 200;
const aMinuteAgo = "now() - interval '1 minute'";
const putOffMinutes = 60;
const countedMax = 100_000;

/** An entry to write into the catalog. */
export interface Listing extends ListingRequest {
  /** All the resource accepts now; undefined when it was not asked. */
  readonly stillAccepted: readonly AcceptedRequirements[] | undefined;
}

/** The catalog's tables. Wallets and assets are compared without regard to case: EVM addresses are written both ways. */
export class ListingStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Notes one more payment for what is listed exactly like this and was checked within a day; false when nothing is. */
  async refresh({ digest, settledAt }: ListingRequest): Promise<boolean> {
    const { rowCount } = await this.#db.query({
      name: "refresh-listing",
      text: `
        update discovery_resources r set last_settled_at = greatest(r.last_settled_at, $2)
          from discovery_accepts a
         where a.announcement_digest = $1 and a.checked_at > now() - interval '1 day' and r.id = a.resource_id`,
      values: [digest, settledAt],
    });
    return rowCount !== 0;
  }

  /** Takes one of the catalog operations that the wallet has this minute on the resource's host; false when none is left. */
  async takeBudget({ declaration, requirements }: ListingRequest): Promise<boolean> {
    const { rowCount } = await this.#db.query({
      name: "take-listing-budget",
      text: `
        insert into discovery_budgets as b (pay_to, minute, used) values ($1, now(), 1)
        on conflict (pay_to) do update
          set minute = case when b.minute > ${aMinuteAgo} then b.minute else now() end,
              used = case when b.minute > ${aMinuteAgo} then b.used + 1 else 1 end
          where b.minute <= ${aMinuteAgo} or b.used < $2`,
      values: [boundedBy(requirements.payTo, hostOf(declaration.resource)), operationsPerMinuteMax],
    });
    return rowCount === 1;
  }

  /** Leaves the wallet no catalog operation on the host for `putOffMinutes`: its minute is yet to come. */
  async putOff({ declaration, requirements }: ListingRequest): Promise<void> {
    await this.#db.query({
      name: "put-off-listings",
      text: `
        insert into discovery_budgets (pay_to, minute, used) values ($1, now() + interval '${putOffMinutes - 1} minutes', $2)
        on conflict (pay_to) do update set minute = excluded.minute, used = excluded.used`,
      values: [boundedBy(requirements.payTo, hostOf(declaration.resource)), operationsPerMinuteMax],
    });
  }

  async isPutOff({ declaration, requirements }: ListingRequest): Promise<boolean> {
    const { rowCount } = await this.#db.query({
      name: "are-listings-put-off",
      text: "select from discovery_budgets where pay_to = $1 and minute > now()",
      values: [boundedBy(requirements.payTo, hostOf(declaration.resource))],
    });
    return rowCount !== 0;
  }

  /** Another path of this listing's route template, where the listing began with other wallets than this one. */
  async pathOfOthers({ declaration, requirements }: Listing, db: Queryable = this.#db): Promise<string | undefined> {
    const { rows } = await db.query(
      `select r.probe_url from discovery_resources r
        where r.key = $1 and ${isListed} and r.probe_url not in ('', $2)
          and not exists (select from discovery_accepts a where a.resource_id = r.id and a.pay_to = lower($3))`,
      [declaration.key, declaration.probeUrl, requirements.payTo],
    );
    return rows[0]?.probe_url;
  }

  /**
   * Lists it, or says why not. The newest description counts; ways to pay come together from all payments. `agreed`: the path of others
   * that was asked.
   */
  async put(listing: Listing, agreed?: string): Promise<Problem | undefined> {
    const { declaration, requirements, stillAccepted } = listing;
    const host = hostOf(declaration.resource);
    return inTransaction(this.#db, async (tx) => {
      await tx.query(lock, [declaration.key]);
      // A resource that was asked, of a template that others may have begun since.
      const path = stillAccepted && (await this.pathOfOthers(listing, tx));
      if (path !== undefined && path !== agreed) return transient("another wallet listed this template meanwhile");
      await tx.query(lock, [boundedBy(requirements.payTo, host)]);
      const { rows: others } = await tx.query(
        `select count(distinct r.id) as count
           from discovery_accepts a join discovery_resources r on r.id = a.resource_id
          where a.pay_to = lower($1) and ${isListed} and r.key <> $2 and split_part(r.resource, '/', 3) = $3`,
        [requirements.payTo, declaration.key, host],
      );
      if (others[0].count >= resourcesMax)
        return permanent(`the wallet has ${resourcesMax} resources listed on ${host} already`);
      const crowd = await crowdProblem(tx, declaration);
      if (crowd) return crowd;
      const { rows } = await tx.query(upsertResource, resourceValues(listing));
      await tx.query(upsertAccept, [
        rows[0].id,
        requirements.scheme,
        requirements.network,
        requirements.asset,
        requirements.payTo,
        JSON.stringify(requirements),
        listing.digest,
      ]);
      if (stillAccepted) await tx.query(deleteWithdrawn, [rows[0].id, ...walletColumns(stillAccepted)]);
      await tx.query(setPrice, [rows[0].id]);
      if (rows[0].is_new) await countFromRecord(tx, rows[0].id);
      return undefined;
    });
  }

  /** Only tidies up: what is too old is left out of every answer already. */
  async sweep(): Promise<void> {
    await this.#db.query(
      `delete from discovery_resources where last_settled_at < now() - interval '${listedDays + 1} days'`,
    );
    await this.#db.query("delete from discovery_budgets where minute < now() - interval '1 hour'");
  }
}

/** Each payment for what begins like a route template is held against it, whoever listed it. */
async function crowdProblem(tx: Transaction, { key, resource, bazaar }: Declaration): Promise<Problem | undefined> {
  const { routeTemplate } = bazaar;
  if (routeTemplate === undefined) return undefined;
  const beginning = resource.slice(0, -routeTemplate.length) + (/^[^:]*\//.exec(routeTemplate)?.[0] ?? "");
  const { rowCount } = await tx.query(
    "select from discovery_resources where route_prefix = $1 and key <> $2 limit $3",
    [beginning, key, templatesMax],
  );
  return rowCount === templatesMax
    ? permanent(`${templatesMax} templates that begin with ${beginning} are listed`)
    : undefined;
}

const hostOf = (resource: string) => new URL(resource).host;
const boundedBy = (payTo: string, host: string) => `${payTo.toLowerCase()} ${host}`;

/** Lock the listing's key before the wallet, so that no two transactions wait for each other. */
const lock = "select pg_advisory_xact_lock(hashtextextended($1, 0))";

function resourceValues({ declaration, settledAt }: Listing): unknown[] {
  const { key, resource, type, x402Version, description, mimeType, serviceName, tags, iconUrl, bazaar, input } =
    declaration;
  const words = [resource.replace(/[^a-zA-Z0-9]+/g, " "), input.toolName, input.description];
  return [
    key,
    resource,
    type,
    x402Version,
    description ?? null,
    mimeType ?? null,
    serviceName ?? null,
    tags,
    iconUrl ?? null,
    JSON.stringify(bazaar),
    declaration.probeUrl,
    words
      .filter((word) => typeof word === "string")
      .join(" ")
      .replaceAll("\0", "")
      .slice(0, 4_000),
    settledAt,
  ];
}

const upsertResource = `
  insert into discovery_resources as r (key, resource, type, x402_version, description, mime_type, service_name, tags, icon_url,
                                   bazaar, probe_url, last_settled_at, words)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13,
          setweight(to_tsvector('english', coalesce($7, '') || ' ' || array_to_string($8::text[], ' ')), 'A')
          || setweight(to_tsvector('english', coalesce($5, '')), 'B') || setweight(to_tsvector('english', $12), 'C'))
  on conflict (key) do update
    set resource = excluded.resource, type = excluded.type, x402_version = excluded.x402_version,
        description = excluded.description, mime_type = excluded.mime_type, service_name = excluded.service_name,
        tags = excluded.tags, icon_url = excluded.icon_url, bazaar = excluded.bazaar, words = excluded.words,
        last_settled_at = greatest(r.last_settled_at, excluded.last_settled_at),
        probe_url = case when ${isListed} then r.probe_url else excluded.probe_url end
  returning id, xmax = 0 as is_new`;

const upsertAccept = `
  insert into discovery_accepts (resource_id, scheme, network, asset, pay_to, terms, announcement_digest, checked_at)
  values ($1, $2, $3, lower($4), lower($5), $6, $7, now())
  on conflict (resource_id, scheme, network, asset, pay_to) do update
    set terms = excluded.terms, announcement_digest = excluded.announcement_digest, checked_at = excluded.checked_at`;

const deleteWithdrawn = `
  delete from discovery_accepts a
   where a.resource_id = $1
     and (a.network, a.asset, a.pay_to) not in
         (select network, lower(asset), lower(pay_to) from unnest($2::text[], $3::text[], $4::text[]) as live (network, asset, pay_to))`;

/** Over all networks: the version before puts resources in order by it. */
const setPrice = `
  update discovery_resources
     set price_atomic = (select min((terms->>'amount')::numeric) from discovery_accepts where resource_id = $1)
   where id = $1`;

/**
 * Counts payments from before the listing. Those not yet rolled up come with the next roll-up, which waits until the listing is
 * visible. A route template gets only the path that was paid for first.
 */
async function countFromRecord(tx: Transaction, id: bigint): Promise<void> {
  await keepRollUpsOut(tx);
  await tx.query(
    `with paid as materialized (
       select r.id, t.network, a.pay_to, (t.created_at at time zone 'utc')::date as day, t.status, ${usdcAmount("t")} as amount_atomic
         from discovery_resources r cross join unnest(array['settled', 'failed']) as asked (state) cross join lateral (
                select t.* from transactions t
                 where t.resource_url = r.probe_url and t.status = asked.state and t.kind = 'settle'
                   and t.created_at > now() - interval '${resourceDays} days'
                 order by t.created_at desc, t.id desc limit ${countedMax}) as t
              join discovery_accepts a on a.resource_id = r.id and a.network = t.network and a.pay_to = lower(t.pay_to)
        where r.id = $1 and not exists (select from uncounted_settlements u where u.transaction_id = t.id)
          and not exists (select from unlinked_records u where t.id between u.next_id and u.last_id)
     ), wallets as (
       insert into listing_wallets
       select id, network, pay_to, sum(coalesce(amount_atomic, 0)) from paid where status = 'settled' group by 1, 2, 3
     )
     insert into listing_days
     select id, network, day, count(*) filter (where status = 'settled'), count(*) filter (where status = 'failed'),
            min(amount_atomic) filter (where status = 'settled'), max(amount_atomic) filter (where status = 'settled')
       from paid group by 1, 2, 3`,
    [id],
  );
}

function walletColumns(accepted: readonly AcceptedRequirements[]): readonly (readonly string[])[] {
  return [
    accepted.map(({ network }) => network),
    accepted.map(({ asset }) => asset),
    accepted.map(({ payTo }) => payTo),
  ];
}
