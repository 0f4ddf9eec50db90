-- Made by `npm run schema` from the migrations; a test keeps it true.

create table accounts (
  env text not null,
  account text not null,
  paid bigint not null,
  paid_volume numeric not null,
  payees bigint not null,
  first_payee text,
  received bigint not null,
  received_volume numeric not null,
  payers bigint not null,
  first_payer text,
  first_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  is_self_payer boolean default false not null,
  constraint accounts_pkey PRIMARY KEY (env, account)
);

create table alive_minutes (
  subject text not null,
  day date not null,
  minutes bytea not null,
  constraint alive_minutes_pkey PRIMARY KEY (subject, day)
) with (fillfactor=50);

create table archive_leases (
  network text not null,
  day date not null,
  holder uuid not null,
  lease_until timestamp with time zone not null,
  constraint archive_leases_pkey PRIMARY KEY (network, day)
);

create table archive_objects (
  name text not null,
  network text not null,
  first_at timestamp with time zone not null,
  first_id bigint not null,
  last_at timestamp with time zone not null,
  last_id bigint not null,
  records integer not null,
  bytes bigint not null,
  sha256 bytea not null,
  archived_at timestamp with time zone default now() not null,
  constraint archive_objects_pkey PRIMARY KEY (name)
);

create table archived_self_payments (
  payer text not null,
  network text not null,
  day date not null,
  status text not null,
  span integer not null,
  settlements bigint not null,
  volume_atomic numeric not null,
  constraint archived_self_payments_pkey PRIMARY KEY (payer, network, day, status, span)
);

create unlogged table call_counts (
  bucket text not null,
  window_end timestamp with time zone not null,
  calls integer not null,
  constraint call_counts_pkey PRIMARY KEY (bucket)
);

create table copies (
  id uuid not null,
  started_at timestamp with time zone default now() not null,
  last_beat_at timestamp with time zone default now() not null,
  constraint copies_pkey PRIMARY KEY (id)
);

create table daily_figures (
  scope text not null,
  day date not null,
  settlements bigint not null,
  payers bigint not null,
  p50_ms integer,
  p95_ms integer,
  self_counted bigint default 0 not null,
  constraint daily_figures_pkey PRIMARY KEY (scope, day)
);

create table daily_payers (
  scope text not null,
  day date not null,
  counted bigint not null,
  payers bigint not null,
  constraint daily_payers_pkey PRIMARY KEY (scope, day)
);

create table daily_reasons (
  network text not null,
  day date not null,
  status text not null,
  reason text not null,
  payments bigint not null,
  constraint daily_reasons_pkey PRIMARY KEY (network, day, status, reason)
);

create table daily_reconciliations (
  network text not null,
  day date not null,
  outcome text not null,
  payments bigint not null,
  constraint daily_reconciliations_pkey PRIMARY KEY (network, day, outcome)
);

create table daily_settle_spans (
  network text not null,
  day date not null,
  span integer not null,
  settlements bigint not null,
  constraint daily_settle_spans_pkey PRIMARY KEY (network, day, span)
);

create table daily_settle_times (
  network text not null,
  span integer not null,
  total_ms integer not null,
  day date not null,
  settlements bigint not null,
  constraint daily_settle_times_pkey PRIMARY KEY (network, span, total_ms, day) INCLUDE (settlements)
);

create table daily_settlements (
  network text not null,
  day date not null,
  status text not null,
  settlements bigint not null,
  volume_atomic numeric not null,
  constraint daily_settlements_pkey PRIMARY KEY (network, day, status)
);

create table discovery_accepts (
  resource_id bigint not null,
  scheme text not null,
  network text not null,
  asset text not null,
  pay_to text not null,
  terms json not null,
  announcement_digest bytea not null,
  checked_at timestamp with time zone not null,
  constraint discovery_accepts_pkey PRIMARY KEY (resource_id, scheme, network, asset, pay_to),
  constraint discovery_accepts_resource_id_fkey FOREIGN KEY (resource_id) REFERENCES discovery_resources(id) ON DELETE CASCADE
);

create table discovery_budgets (
  pay_to text not null,
  minute timestamp with time zone not null,
  used integer not null,
  constraint discovery_budgets_pkey PRIMARY KEY (pay_to)
);

create table discovery_offers (
  digest bytea not null,
  offer text not null,
  attempts smallint default 0 not null,
  offered_at timestamp with time zone default now() not null,
  lease_until timestamp with time zone default now() not null,
  seller text,
  constraint discovery_offers_pkey PRIMARY KEY (digest)
);

create table discovery_resources (
  id bigint generated always as identity,
  key text not null,
  resource text not null,
  type text not null,
  x402_version smallint not null,
  description text,
  mime_type text,
  service_name text,
  tags text[] not null,
  icon_url text,
  bazaar json not null,
  words tsvector not null,
  last_settled_at timestamp with time zone not null,
  probe_url text default ''::text not null,
  route_prefix text generated always as (("left"(resource, (length(resource) - length((bazaar ->> 'routeTemplate'::text)))) || "substring"((bazaar ->> 'routeTemplate'::text), '^([^:]*/)'::text))) stored,
  route_pattern text generated always as (((('^'::text || replace("left"(resource, (length(resource) - length((bazaar ->> 'routeTemplate'::text)))), '.'::text, '[.]'::text)) || regexp_replace(replace((bazaar ->> 'routeTemplate'::text), '.'::text, '[.]'::text), '[^/]*:[^/]*'::text, '[^/]+'::text, 'g'::text)) || '$'::text)) stored,
  price_atomic numeric,
  constraint discovery_resources_pkey PRIMARY KEY (id),
  constraint discovery_resources_key_key UNIQUE (key),
  constraint discovery_resources_type_check CHECK ((type = ANY (ARRAY['http'::text, 'mcp'::text])))
);

create table fee_spending (
  network text not null,
  fee_payer text not null,
  day date not null,
  spent numeric(78,0) default 0 not null,
  last_balance numeric(78,0) not null,
  as_of bigint default 0 not null,
  constraint fee_spending_pkey PRIMARY KEY (network, fee_payer, day)
);

create table listing_days (
  resource_id bigint not null,
  network text not null,
  day date not null,
  settled bigint not null,
  failed bigint not null,
  price_min numeric,
  price_max numeric,
  constraint listing_days_pkey PRIMARY KEY (resource_id, network, day),
  constraint listing_days_resource_id_fkey FOREIGN KEY (resource_id) REFERENCES discovery_resources(id) ON DELETE CASCADE
);

create table listing_wallets (
  resource_id bigint not null,
  network text not null,
  pay_to text not null,
  settled_atomic numeric not null,
  constraint listing_wallets_pkey PRIMARY KEY (resource_id, network, pay_to),
  constraint listing_wallets_resource_id_fkey FOREIGN KEY (resource_id) REFERENCES discovery_resources(id) ON DELETE CASCADE
);

create table network_copies (
  network text not null,
  copy uuid not null,
  signers text[] not null,
  lease_until timestamp with time zone not null,
  constraint network_copies_pkey PRIMARY KEY (network, copy)
) with (fillfactor=50);

create table outage_causes (
  subject text not null,
  hour timestamp with time zone not null,
  cause text not null,
  constraint outage_causes_pkey PRIMARY KEY (subject, hour, cause),
  constraint outage_causes_cause_check CHECK ((cause = ANY (ARRAY['away'::text, 'empty'::text])))
);

create table paid_pairs (
  env text not null,
  payer text not null,
  pay_to text not null,
  settlements bigint not null,
  volume_atomic numeric not null,
  constraint paid_pairs_pkey PRIMARY KEY (env, payer, pay_to)
);

create table payer_days (
  scope text not null,
  payer text not null,
  day date not null,
  constraint payer_days_pkey PRIMARY KEY (scope, payer)
);

create table payer_failures (
  network text not null,
  payer text not null,
  failed_at timestamp with time zone default now() not null
);

create table payers_by_last_day (
  scope text not null,
  day date not null,
  payers bigint not null,
  constraint payers_by_last_day_pkey PRIMARY KEY (scope, day)
);

create unlogged table payers_in_flight (
  network text not null,
  payer text not null,
  asset text not null,
  total numeric not null,
  constraint payers_in_flight_pkey PRIMARY KEY (network, payer, asset)
) with (fillfactor=50);

create table paying_days (
  payer text not null,
  day date not null,
  network text not null,
  constraint paying_days_pkey PRIMARY KEY (payer, day, network)
);

create unlogged table payment_holds (
  id bigint generated always as identity,
  place text not null,
  network text not null,
  payment_key text not null,
  payer text not null,
  asset text not null,
  amount numeric(78,0) not null,
  until timestamp with time zone not null,
  holders uuid[] default '{}'::uuid[] not null,
  releasable boolean default true not null,
  counted boolean not null,
  settled_at timestamp with time zone,
  transaction_id text,
  message_digest bytea,
  constraint payment_holds_pkey PRIMARY KEY (id),
  constraint payment_holds_place_key UNIQUE (place)
) with (fillfactor=30);

create table payments (
  id bigint generated always as identity,
  network text not null,
  payment_key text not null,
  state text not null,
  claim_token uuid not null,
  scheme text not null,
  payer text not null,
  pay_to text not null,
  asset text not null,
  amount_atomic numeric(78,0) not null,
  fee_payer text,
  resource_url text,
  transaction_id text,
  raw_transactions bytea[],
  nonce bigint,
  error_reason text,
  error_message text,
  retryable boolean default false not null,
  expires_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  delivered_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  offer text,
  offer_digest bytea,
  message_digest bytea,
  terms_digest text,
  landed_by_another boolean default false not null,
  signed_transactions text[] default '{}'::text[] not null,
  broadcast_at timestamp with time zone,
  network_fee numeric(78,0),
  taken_back_at timestamp with time zone,
  constraint payments_pkey PRIMARY KEY (id),
  constraint payments_network_payment_key_key UNIQUE (network, payment_key),
  constraint payments_amount_atomic_check CHECK ((amount_atomic > (0)::numeric)),
  constraint payments_check CHECK (((state = 'claimed'::text) OR (state = 'failed'::text) OR (transaction_id IS NOT NULL))),
  constraint payments_state_check CHECK ((state = ANY (ARRAY['claimed'::text, 'broadcast'::text, 'unknown'::text, 'settled'::text, 'failed'::text])))
) with (fillfactor=50);

create table searched_settlements (
  network text not null,
  fee_payer text not null,
  searched_until bigint not null,
  next_nonce bigint,
  found_again bigint default 0 not null,
  last_found_at timestamp with time zone,
  constraint searched_settlements_pkey PRIMARY KEY (network, fee_payer)
) with (fillfactor=50);

create table self_payment_moves (
  id uuid default gen_random_uuid() not null,
  env text not null,
  payer text not null,
  status text not null,
  sign smallint not null,
  last_id bigint not null,
  before_at timestamp with time zone default 'infinity'::timestamp with time zone not null,
  before_id bigint default 0 not null,
  constraint self_payment_moves_pkey PRIMARY KEY (id)
);

create table self_payment_moves_except (
  move_id uuid not null,
  transaction_id bigint not null,
  constraint self_payment_moves_except_pkey PRIMARY KEY (move_id, transaction_id),
  constraint self_payment_moves_except_move_id_fkey FOREIGN KEY (move_id) REFERENCES self_payment_moves(id) ON DELETE CASCADE
);

create table signer_leases (
  network text not null,
  signer text not null,
  holder uuid,
  constraint signer_leases_pkey PRIMARY KEY (network, signer)
);

create table signer_nonces (
  network text not null,
  address text not null,
  next_nonce bigint not null,
  vacant bigint[] default '{}'::bigint[] not null,
  bytes_from bigint default 0 not null,
  constraint signer_nonces_pkey PRIMARY KEY (network, address),
  constraint signer_nonces_next_nonce_check CHECK ((next_nonce >= 0))
);

create table taken_back_settlements (
  transaction_id bigint not null,
  constraint taken_back_settlements_pkey PRIMARY KEY (transaction_id)
);

create table transactions (
  id bigint generated always as identity,
  network text not null,
  status text not null,
  kind text not null,
  payer text,
  pay_to text,
  asset text,
  amount_atomic numeric(78,0),
  resource_url text,
  tx_id text,
  error_reason text,
  total_ms integer not null,
  created_at timestamp with time zone default now() not null,
  constraint transactions_pkey PRIMARY KEY (id),
  constraint transactions_kind_check CHECK ((kind = ANY (ARRAY['verify'::text, 'settle'::text]))),
  constraint transactions_status_check CHECK ((status = ANY (ARRAY['settled'::text, 'failed'::text, 'rejected'::text])))
);

create table uncounted_settlements (
  id bigint generated always as identity,
  network text not null,
  day date not null,
  status text not null,
  payer text,
  amount_atomic numeric not null,
  total_ms integer not null,
  transaction_id bigint,
  asset text,
  constraint uncounted_settlements_pkey PRIMARY KEY (id)
);

create table unfinished_payments (
  payment_id bigint not null,
  constraint unfinished_payments_pkey PRIMARY KEY (payment_id)
);

create table unlinked_records (
  next_id bigint not null,
  last_id bigint not null
);

CREATE INDEX accounts_by_payers ON public.accounts USING btree (env, payers DESC, account) WHERE (received > 0);

CREATE INDEX accounts_by_payments ON public.accounts USING btree (env, received DESC, account) WHERE (received > 0);

CREATE INDEX accounts_by_volume ON public.accounts USING btree (env, received_volume DESC, account) WHERE (received > 0);

CREATE INDEX accounts_self_payers ON public.accounts USING btree (env, first_payee) WHERE is_self_payer;

CREATE INDEX archive_objects_by_end ON public.archive_objects USING btree (last_at);

CREATE INDEX archive_objects_in_order ON public.archive_objects USING btree (network, first_at DESC, first_id DESC);

CREATE INDEX call_counts_over ON public.call_counts USING btree (window_end);

CREATE INDEX discovery_accepts_announced ON public.discovery_accepts USING btree (announcement_digest);

CREATE INDEX discovery_accepts_price ON public.discovery_accepts USING btree (network, (((terms ->> 'amount'::text))::numeric), resource_id);

CREATE INDEX discovery_accepts_wallet ON public.discovery_accepts USING btree (pay_to);

CREATE INDEX discovery_offers_due ON public.discovery_offers USING btree (lease_until);

CREATE INDEX discovery_offers_seller ON public.discovery_offers USING btree (seller);

CREATE INDEX discovery_resources_address ON public.discovery_resources USING hash (probe_url);

CREATE INDEX discovery_resources_price ON public.discovery_resources USING btree (price_atomic, key);

CREATE INDEX discovery_resources_recent ON public.discovery_resources USING btree (last_settled_at DESC, key);

CREATE INDEX discovery_resources_resource ON public.discovery_resources USING btree (resource);

CREATE INDEX discovery_resources_route ON public.discovery_resources USING btree (route_prefix) WHERE (route_prefix IS NOT NULL);

CREATE INDEX discovery_resources_words ON public.discovery_resources USING gin (words);

CREATE INDEX paid_pairs_of_payee ON public.paid_pairs USING btree (env, pay_to, settlements DESC);

CREATE INDEX payer_failures_of_payer ON public.payer_failures USING btree (network, payer, failed_at);

CREATE INDEX payer_failures_over ON public.payer_failures USING btree (failed_at);

CREATE INDEX payment_holds_by_payer ON public.payment_holds USING btree (network, payer, asset, counted);

CREATE INDEX payments_by_signed_nonce ON public.payments USING hash ("right"(payment_key, 66)) WHERE (network ~~ 'eip155:%'::text);

CREATE INDEX payments_nonce ON public.payments USING btree (network, fee_payer, nonce) WHERE (nonce IS NOT NULL);

CREATE INDEX payments_signed ON public.payments USING gin (signed_transactions) WHERE ((signed_transactions <> '{}'::text[]) AND (signed_transactions <> ARRAY[transaction_id]));

CREATE INDEX payments_transaction ON public.payments USING btree (transaction_id) WHERE (transaction_id IS NOT NULL);

CREATE INDEX transactions_by_network ON public.transactions USING btree (network, status, created_at DESC, id DESC);

CREATE INDEX transactions_by_payee ON public.transactions USING btree (pay_to, status, created_at DESC, id DESC) WHERE (pay_to IS NOT NULL);

CREATE INDEX transactions_by_payer ON public.transactions USING btree (payer, status, created_at DESC, id DESC) WHERE (payer IS NOT NULL);

CREATE INDEX transactions_by_resource ON public.transactions USING btree (resource_url, status, created_at DESC, id DESC) WHERE (resource_url IS NOT NULL);

CREATE OR REPLACE FUNCTION public.count_holds(of_network text, of_payer text, of_asset text)
 RETURNS numeric
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

CREATE OR REPLACE FUNCTION public.end_hold()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      delete from unfinished_payments where payment_id = new.id;
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
    end $function$;

CREATE OR REPLACE FUNCTION public.hold_claimed_payment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

CREATE OR REPLACE FUNCTION public.hold_open_claim()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update payment_holds h
         set releasable = true, until = least(new.expires_at, now() + interval '180 seconds')
       where h.place = place_of(new.network, new.payment_key, new.payer, new.asset);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.payment_as_it_is(wanted bigint)
 RETURNS SETOF payments
 LANGUAGE plpgsql
 STRICT ROWS 1
AS $function$
    begin
      return query select * from payments where id = wanted;
    end $function$;

CREATE OR REPLACE FUNCTION public.place_holds(networks text[], keys text[], payers text[], assets text[], amounts numeric[], balances numeric[], expiries timestamp with time zone[], holder_ids uuid[], shown_untils timestamp with time zone[])
 RETURNS TABLE(item bigint, hold_id bigint, payment_id bigint, in_flight numeric, settled_until timestamp with time zone, transactions text[])
 LANGUAGE plpgsql
 ROWS 4
AS $function$
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
          from unnest(networks, keys, payers, assets, amounts, balances, expiries, holder_ids, shown_untils)
               with ordinality as a (network, payment_key, payer, asset, amount, balance, expires_at, holder, shown_until, item)
        window of_payer as (partition by network, payer, asset order by item)
         order by network, payer, asset, item
      loop
        item := asked.item;
        hold_id := null; in_flight := null; settled_until := null; transactions := null;
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
            insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, holders, counted)
            values (asked.place, asked.network, asked.payment_key, asked.payer, asked.asset, asked.amount,
                    least(asked.expires_at, now() + interval '180 seconds'), array[asked.holder], true)
            on conflict (place) do nothing
            returning h.id into hold_id;
            if found then
              in_flight := counted_total + uncounted;
              counted_total := counted_total + asked.amount;
              exit placing;
            end if;
          end if;
          select h.amount, h.counted into own from payment_holds h
           where h.place = asked.place;
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
          insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, holders, counted)
          values (asked.place, asked.network, asked.payment_key, asked.payer, asked.asset, asked.amount,
                  least(asked.expires_at, now() + interval '180 seconds'), array[asked.holder], true)
          on conflict (place) do update
            set amount = greatest(h.amount, excluded.amount), until = greatest(h.until, excluded.until), counted = true,
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
    end $function$;

CREATE OR REPLACE FUNCTION public.place_holds(networks text[], keys text[], payers text[], assets text[], amounts numeric[], balances numeric[], expiries timestamp with time zone[], holder_ids uuid[], shown_untils timestamp with time zone[], digests bytea[])
 RETURNS TABLE(item bigint, hold_id bigint, payment_id bigint, in_flight numeric, settled_until timestamp with time zone, transactions text[], is_another boolean)
 LANGUAGE plpgsql
 ROWS 4
AS $function$
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
    end $function$;

CREATE OR REPLACE FUNCTION public.place_of(network text, payment_key text, payer text, asset text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
RETURN ((((((network || ' '::text) || payment_key) || ' '::text) || payer) || ' '::text) || asset);

CREATE OR REPLACE FUNCTION public.queue_settlements()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into uncounted_settlements (network, day, status, payer, asset, amount_atomic, total_ms, transaction_id)
      select network, (created_at at time zone 'utc')::date, status, payer, asset, coalesce(amount_atomic, 0), greatest(total_ms, 0), id
        from recorded
       where kind = 'settle';
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.sweep_holds(payers_max integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

CREATE TRIGGER end_hold AFTER UPDATE OF state ON payments FOR EACH ROW WHEN ((new.state = ANY (ARRAY['settled'::text, 'failed'::text])) AND (old.state <> ALL (ARRAY['settled'::text, 'failed'::text]))) EXECUTE FUNCTION end_hold();

CREATE TRIGGER hold_claimed_payment AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION hold_claimed_payment();

CREATE TRIGGER hold_open_claim AFTER UPDATE OF retryable ON payments FOR EACH ROW WHEN (new.state = 'claimed'::text AND new.retryable AND NOT old.retryable) EXECUTE FUNCTION hold_open_claim();

CREATE TRIGGER hold_reclaimed_payment AFTER UPDATE OF state ON payments FOR EACH ROW WHEN ((new.state = ANY (ARRAY['claimed'::text, 'broadcast'::text])) AND NOT new.retryable AND (old.state = 'failed'::text OR old.retryable)) EXECUTE FUNCTION hold_claimed_payment();

CREATE TRIGGER queue_settlements AFTER INSERT ON transactions REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT EXECUTE FUNCTION queue_settlements();
