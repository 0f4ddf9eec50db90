import type { Migration } from "../../shared/migrate.ts";

export const agentFigures: Migration = {
  name: "0048-agent-figures",
  sql: `
    -- When a paid call's result was kept. A BRIN index does not keep a row from changing in place.
    alter table paid_calls add column result_at timestamptz;
    create index paid_calls_results on paid_calls using brin (result_at) with (pages_per_range = 32, autosummarize = on);
    create or replace function keep_paid_results(networks text[], keys text[], holders uuid[], outputs json[], receipts json[])
      returns setof uuid language plpgsql as $$
    begin
      for n in 1 .. cardinality(keys) loop
        return query
          update paid_calls set output = outputs[n], receipt = receipts[n], updated_at = now(), result_at = now()
           where network = networks[n] and payment_key = keys[n] and holder = holders[n]
          returning holder;
      end loop;
    end $$;

    -- How many runs of an agent ended how on a day (UTC). Outcomes are -1, failed; 0 to 998, succeeded, an eighth of the
    -- binary logarithm of the milliseconds that it took; 999, succeeded in a time that is not known.
    create table agent_run_counts (
      agent_id  text not null references agents,
      day       date not null,
      outcome   smallint not null check (outcome between -1 and 999),
      runs      bigint not null check (runs > 0),
      last_at   timestamptz not null,
      primary key (agent_id, day, outcome)
    );
    create index agent_run_counts_by_age on agent_run_counts (day);

    -- The days of agent_run_counts together.
    create table agent_figures (
      agent_id         text primary key references agents,
      runs             bigint not null,
      succeeded        bigint not null check (succeeded between 0 and runs),
      median_ms        integer,
      p95_ms           integer,
      last_success_at  timestamptz
    ) with (fillfactor = 70);

    -- All runs that ended before this moment are counted, and none after it.
    create table run_count_progress (
      one            boolean primary key default true check (one),
      counted_until  timestamptz not null
    );
    insert into run_count_progress (counted_until)
    select coalesce(min(finished_at), now()) from runs where state <> 'running';

    -- Lists are sorted by it. What is listed again has what it had.
    alter table listings add column runs bigint not null default 0;
    create index listings_most_run on listings (runs desc, created_at desc, agent_id)
      include (connector, price_credits, facets);
    create or replace function list_agent() returns trigger language plpgsql as $$
    begin
      if new.state <> 'live' then
        delete from listings where agent_id = new.id;
        return null;
      end if;
      -- Of this and a change of the creator's wallets, the second sees what the first one wrote.
      perform pg_advisory_xact_lock(hashtext('listings of ' || new.account_id));
      insert into listings (agent_id, handle, slug, name, description, connector, price_credits, search, created_at,
                            category, tags, networks, per_call, facets, runs)
      select agent_id, handle, slug, name, description, connector, price_credits, search, created_at,
             category, tags, networks, per_call, facets,
             coalesce((select f.runs from agent_figures f where f.agent_id = new.id), 0)
      from listing_of(new.id)
      on conflict (agent_id) do update set handle = excluded.handle, slug = excluded.slug, name = excluded.name,
        description = excluded.description, connector = excluded.connector, price_credits = excluded.price_credits,
        search = excluded.search, category = excluded.category, tags = excluded.tags, networks = excluded.networks,
        per_call = excluded.per_call, facets = excluded.facets;
      return null;
    end $$;
  `,
};
