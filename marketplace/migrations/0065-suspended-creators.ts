import type { Migration } from "../../shared/migrate.ts";

export const suspendedCreators: Migration = {
  name: "0065-suspended-creators",
  sql: `
    -- Agents of a suspended account stay what they are, so that all is as before once it is restored; they are listed only while it is open.
    create or replace function list_agent() returns trigger language plpgsql as $$
    begin
      -- Of this, a change of the creator's wallets and of the account, the second sees what the first one wrote.
      perform pg_advisory_xact_lock(hashtext('listings of ' || new.account_id));
      if new.state <> 'live' or exists (select from accounts where id = new.account_id and state = 'suspended') then
        delete from listings where agent_id = new.id;
        return null;
      end if;
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

    create function list_account() returns trigger language plpgsql as $$
    begin
      -- The agents first, as whoever changes one of them takes it before the lock.
      perform from agents where account_id = new.id and state = 'live' order by id for no key update;
      perform pg_advisory_xact_lock(hashtext('listings of ' || new.id));
      -- Each is looked at again by list_agent.
      update agents set state = state where account_id = new.id and state = 'live';
      return null;
    end $$;
    create trigger accounts_listed after update of state on accounts
      for each row when ((old.state = 'suspended') <> (new.state = 'suspended')) execute function list_account();

    delete from listings using agents a, accounts c
     where a.id = listings.agent_id and c.id = a.account_id and c.state = 'suspended';
  `,
};
