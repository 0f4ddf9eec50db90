import type { Migration } from "../../shared/migrate.ts";

export const holdsOfOneMessage: Migration = {
  name: "0040-holds-of-one-message",
  sql: `
    -- Null: held by a version that did not say.
    alter table payment_holds add column message_digest bytea;

    -- As before, and of the messages that were signed with one id only one is held. It has one argument more: the version before goes on
    -- calling the other, which a later migration may drop.
    create or replace function place_holds(networks text[], keys text[], payers text[], assets text[], amounts numeric[],
                                           balances numeric[], expiries timestamptz[], holder_ids uuid[], shown_untils timestamptz[], digests bytea[])
      returns table (item bigint, hold_id bigint, payment_id bigint, in_flight numeric, settled_until timestamptz, transactions text[],
                     is_another boolean)
      language plpgsql rows 4 as $$
    #variable_conflict use_column
    declare
      asked record;
      own record;
      -- Of the payer whose row is locked: what its total will be, and the sum of its holds that are not counted in that.
      counted_total numeric;
      uncounted numeric;
      others numeric;
      held_amount numeric;
    begin
      -- In one order, so that two copies never wait for each other.
      for asked in
        select *, place_of(network, payment_key, payer, asset) as place,
               lead(item) over of_payer is null as is_last
          from unnest(networks, keys, payers, assets, amounts, balances, expiries, holder_ids, shown_untils, digests)
               with ordinality as a (network, payment_key, payer, asset, amount, balance, expires_at, holder, shown_until, message_digest, item)
        window of_payer as (partition by network, payer, asset order by item)
         order by network, payer, asset, item
      loop
        item := asked.item;
        hold_id := null; in_flight := null; settled_until := null; transactions := null; is_another := false;
        <<placing>>
        begin
          select p.id into payment_id from payments p
           where p.network = asked.network and p.payment_key = asked.payment_key
             and not (p.state in ('failed', 'claimed') and p.retryable);
          exit placing when found;
          if counted_total is null then
            select f.total into counted_total from payers_in_flight f
             where f.network = asked.network and f.payer = asked.payer and f.asset = asked.asset for update;
            if not found then
              insert into payers_in_flight as f (network, payer, asset, total)
              values (asked.network, asked.payer, asked.asset, 0)
              on conflict (network, payer, asset) do update set total = f.total
              returning f.total into counted_total;
            end if;
            select coalesce(sum(h.amount), 0) into uncounted from payment_holds h
             where h.network = asked.network and h.payer = asked.payer and h.asset = asked.asset and not h.counted;
          end if;
          if counted_total + uncounted + asked.amount <= asked.balance then
            insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, holders, counted, message_digest)
            values (asked.place, asked.network, asked.payment_key, asked.payer, asked.asset, asked.amount,
                    least(asked.expires_at, now() + interval '180 seconds'), array[asked.holder], true, asked.message_digest)
            on conflict (place) do nothing
            returning h.id into hold_id;
            if found then
              in_flight := counted_total + uncounted;
              counted_total := counted_total + asked.amount;
              exit placing;
            end if;
          end if;
          select h.amount, h.counted,
                 h.until >= now() and cardinality(h.holders) > 0 and h.message_digest <> asked.message_digest as is_another
            into own from payment_holds h
           where h.place = asked.place;
          -- The payer signed two payments of one id: of them only one can settle, and the first is promised to its sellers.
          is_another := coalesce(own.is_another, false);
          exit placing when is_another;
          others := counted_total + uncounted - coalesce(own.amount, 0);
          if others + asked.amount > asked.balance then
            counted_total := count_holds(asked.network, asked.payer, asked.asset);
            uncounted := 0;
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
          exit placing when others + asked.amount > asked.balance;
          insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, holders, counted, message_digest)
          values (asked.place, asked.network, asked.payment_key, asked.payer, asked.asset, asked.amount,
                  least(asked.expires_at, now() + interval '180 seconds'), array[asked.holder], true, asked.message_digest)
          on conflict (place) do update
            set amount = greatest(h.amount, excluded.amount), until = greatest(h.until, excluded.until), counted = true,
                message_digest = excluded.message_digest,
                releasable = case when h.until < now() then true else h.releasable and cardinality(h.holders) < 16 end,
                holders = case when h.until < now() then excluded.holders
                               when cardinality(h.holders) < 16 then h.holders || excluded.holders else h.holders end
          returning h.id, h.amount into hold_id, held_amount;
          if own.counted then counted_total := counted_total - own.amount; else uncounted := uncounted - coalesce(own.amount, 0); end if;
          counted_total := counted_total + held_amount;
        end;
        return next;
        if asked.is_last and counted_total is not null then
          update payers_in_flight f set total = counted_total
           where f.network = asked.network and f.payer = asked.payer and f.asset = asked.asset;
          counted_total := null;
        end if;
      end loop;
    end $$;

    create or replace function hold_claimed_payment() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        if new.state in ('claimed', 'broadcast', 'unknown') then insert into unfinished_payments (payment_id) values (new.id); end if;
      else
        insert into unfinished_payments (payment_id) values (new.id) on conflict do nothing;
      end if;
      insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, releasable, counted, message_digest)
      values (place_of(new.network, new.payment_key, new.payer, new.asset), new.network, new.payment_key, new.payer, new.asset, new.amount_atomic, 'infinity', false, false,
              new.message_digest)
      on conflict (place) do update
        set until = 'infinity', releasable = false, settled_at = null, transaction_id = null, message_digest = excluded.message_digest,
            amount = greatest(h.amount, excluded.amount), counted = h.counted and h.amount >= excluded.amount;
      return null;
    end $$;

    -- Also of a claim that was opened to other callers and is then sent by the one who had it.
    create or replace trigger hold_reclaimed_payment after update of state on payments for each row
      when (new.state in ('claimed', 'broadcast') and not new.retryable and (old.state = 'failed' or old.retryable))
      execute function hold_claimed_payment();
  `,
};
