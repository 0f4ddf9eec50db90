import type { Migration } from "../../shared/migrate.ts";

export const paymentHolds: Migration = {
  name: "0013-payment-holds",
  sql: `
    -- What payers have in flight: a row a payment that was verified, is being settled, or was settled a moment ago and may
    -- not show in the payer's balance yet. Unlogged: a database that crashes forgets them, and with them nothing but
    -- the promise that they were counted.
    create unlogged table payment_holds (
      id              bigint generated always as identity primary key,
      -- Of the payment and its payer, in one column: whatever is known of the table's size, a hold has one index to be found by.
      place           text not null unique,
      network         text not null,
      payment_key     text not null,
      payer           text not null,
      asset           text not null,
      amount          numeric(78, 0) not null,
      until           timestamptz not null,
      -- The verifications that may give it up; it ends when the last of them has.
      holders         uuid[] not null default '{}',
      releasable      boolean not null default true,
      -- Whether the payer's total below has it in.
      counted         boolean not null,
      settled_at      timestamptz,
      transaction_id  text
    ) with (fillfactor = 80);
    create index payment_holds_by_payer on payment_holds (network, payer, asset, counted);

    create function place_of(network text, payment_key text, payer text, asset text) returns text
      immutable language sql return network || ' ' || payment_key || ' ' || payer || ' ' || asset;

    -- At least the sum of a payer's counted holds: what has ended stays in it until it is counted again, so that a
    -- settlement never waits for a row that all of its payer's settlements share. Also the lock of its payer's holds.
    create unlogged table payers_in_flight (
      network  text not null,
      payer    text not null,
      asset    text not null,
      total    numeric not null,
      primary key (network, payer, asset)
    ) with (fillfactor = 50);

    insert into payment_holds (place, network, payment_key, payer, asset, amount, until, releasable, counted)
    select place_of(network, payment_key, payer, asset), network, payment_key, payer, asset, amount_atomic, 'infinity', false, false
      from payments where state in ('claimed', 'broadcast', 'unknown');

    create function place_holds(networks text[], keys text[], payers text[], assets text[], amounts numeric[],
                                balances numeric[], expiries timestamptz[], holder_ids uuid[], shown_untils timestamptz[])
      returns table (item bigint, hold_id bigint, payment_id bigint, in_flight numeric, settled_until timestamptz, transactions text[])
      language plpgsql as $$
    #variable_conflict use_column
    declare
      asked record;
      own record;
      counted_total numeric;
      others numeric;
      held_amount numeric;
    begin
      -- In one order, so that two copies never wait for each other.
      for asked in
        select *, place_of(network, payment_key, payer, asset) as place
          from unnest(networks, keys, payers, assets, amounts, balances, expiries, holder_ids, shown_untils)
               with ordinality as a (network, payment_key, payer, asset, amount, balance, expires_at, holder, shown_until, item)
         order by network, payer, asset, item
      loop
        item := asked.item;
        hold_id := null; in_flight := null; settled_until := null; transactions := null;
        select p.id into payment_id from payments p
         where p.network = asked.network and p.payment_key = asked.payment_key
           and not (p.state in ('failed', 'claimed') and p.retryable);
        if found then
          return next;
          continue;
        end if;
        select f.total into counted_total from payers_in_flight f
         where f.network = asked.network and f.payer = asked.payer and f.asset = asked.asset for update;
        if not found then
          insert into payers_in_flight as f (network, payer, asset, total)
          values (asked.network, asked.payer, asked.asset, 0)
          on conflict (network, payer, asset) do update set total = f.total
          returning f.total into counted_total;
        end if;
        select h.amount, h.counted into own from payment_holds h
         where h.place = asked.place;
        others := counted_total - case when own.counted then own.amount else 0 end + coalesce(
          (select sum(h.amount) from payment_holds h
            where h.network = asked.network and h.payer = asked.payer and h.asset = asked.asset
              and not h.counted and h.payment_key <> asked.payment_key), 0);
        if others + asked.amount > asked.balance then
          counted_total := count_holds(asked.network, asked.payer, asked.asset);
          select coalesce(sum(h.amount) filter (where h.settled_at is null or not coalesce(h.settled_at <= asked.shown_until, false)), 0),
                 max(h.settled_at),
                 (array_agg(h.transaction_id order by h.settled_at desc) filter (where h.settled_at is not null))[1:8]
            into others, settled_until, transactions
            from payment_holds h
           where h.network = asked.network and h.payer = asked.payer and h.asset = asked.asset
             and h.payment_key <> asked.payment_key;
          select h.amount, h.counted into own from payment_holds h
           where h.place = asked.place;
        end if;
        in_flight := others;
        if others + asked.amount > asked.balance then
          return next;
          continue;
        end if;
        insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, holders, counted)
        values (asked.place, asked.network, asked.payment_key, asked.payer, asked.asset, asked.amount,
                least(asked.expires_at, now() + interval '180 seconds'), array[asked.holder], true)
        on conflict (place) do update
          set amount = greatest(h.amount, excluded.amount), until = greatest(h.until, excluded.until), counted = true,
              releasable = case when h.until < now() then true else h.releasable and cardinality(h.holders) < 16 end,
              holders = case when h.until < now() then excluded.holders
                             when cardinality(h.holders) < 16 then h.holders || excluded.holders else h.holders end
        returning h.id, h.amount into hold_id, held_amount;
        update payers_in_flight f
           set total = counted_total + held_amount - case when own.counted then own.amount else 0 end
         where f.network = asked.network and f.payer = asked.payer and f.asset = asked.asset;
        return next;
      end loop;
    end $$;

    -- Counts a payer's holds, without those that are over. The caller has the payer's row of payers_in_flight.
    create function count_holds(of_network text, of_payer text, of_asset text) returns numeric language plpgsql as $$
    declare
      counted_total numeric;
    begin
      delete from payment_holds where network = of_network and payer = of_payer and asset = of_asset and until < now();
      update payment_holds set counted = true
       where network = of_network and payer = of_payer and asset = of_asset and not counted;
      select coalesce(sum(amount), 0) into counted_total from payment_holds
       where network = of_network and payer = of_payer and asset = of_asset;
      update payers_in_flight set total = counted_total
       where network = of_network and payer = of_payer and asset = of_asset;
      return counted_total;
    end $$;

    -- Forgets what is over, of so many payers; one copy of the daemon at a time.
    create function sweep_holds(payers_max integer) returns void language plpgsql as $$
    declare
      one record;
    begin
      if not pg_try_advisory_xact_lock(hashtext('payment holds')) then return; end if;
      for one in
        select distinct network, payer, asset from payment_holds where until < now()
         order by network, payer, asset limit payers_max
      loop
        perform from payers_in_flight where network = one.network and payer = one.payer and asset = one.asset for update;
        perform count_holds(one.network, one.payer, one.asset);
      end loop;
      delete from payers_in_flight
       where ctid in (select ctid from payers_in_flight where total = 0 limit payers_max for update skip locked);
    end $$;

    -- A payment that is being settled is in flight until its end is known, whether it was verified or not.
    create function hold_claimed_payment() returns trigger language plpgsql as $$
    begin
      insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, releasable, counted)
      values (place_of(new.network, new.payment_key, new.payer, new.asset), new.network, new.payment_key, new.payer, new.asset, new.amount_atomic, 'infinity', false, false)
      on conflict (place) do update
        set until = 'infinity', releasable = false, settled_at = null, transaction_id = null,
            amount = greatest(h.amount, excluded.amount), counted = h.counted and h.amount >= excluded.amount;
      return null;
    end $$;
    create trigger hold_claimed_payment after insert on payments
      for each row execute function hold_claimed_payment();
    create trigger hold_reclaimed_payment after update of state on payments
      for each row when (new.state = 'claimed' and not new.retryable and (old.state = 'failed' or old.retryable))
      execute function hold_claimed_payment();

    -- A claim that any caller may take over, since the process that made it is gone, holds no longer than a verification:
    -- its caller may never come back to it, and an authorization can be good for years.
    create function hold_open_claim() returns trigger language plpgsql as $$
    begin
      update payment_holds h
         set releasable = true, until = least(new.expires_at, now() + interval '180 seconds')
       where h.place = place_of(new.network, new.payment_key, new.payer, new.asset);
      return null;
    end $$;
    create trigger hold_open_claim after update of retryable on payments
      for each row when (new.state = 'claimed' and new.retryable and not old.retryable) execute function hold_open_claim();

    -- A settled one counts for a minute more, unless the payer's balance is seen to have it. One that failed and can be
    -- tried again stays with those who verified it.
    create function end_hold() returns trigger language plpgsql as $$
    begin
      update payment_holds h
         set settled_at = case when new.state = 'settled' then clock_timestamp() end,
             transaction_id = new.transaction_id,
             releasable = new.state = 'failed',
             until = case
               when new.state = 'settled' then clock_timestamp() + interval '1 minute'
               when new.retryable and cardinality(h.holders) > 0 then least(new.expires_at, now() + interval '180 seconds')
               else now() end
       where h.place = place_of(new.network, new.payment_key, new.payer, new.asset);
      return null;
    end $$;
    create trigger end_hold after update of state on payments
      for each row when (new.state in ('settled', 'failed') and old.state not in ('settled', 'failed')) execute function end_hold();
  `,
};
