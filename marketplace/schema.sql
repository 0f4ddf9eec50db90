-- Made by `npm run schema` from the migrations; a test keeps it true.

create table account_days (
  account_id text not null,
  day date not null,
  agent_id text not null,
  key_id text default ''::text not null,
  runs bigint not null,
  failed bigint not null,
  credits bigint not null,
  ms bigint not null,
  constraint account_days_pkey PRIMARY KEY (account_id, day, agent_id, key_id),
  constraint account_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_days_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint account_days_check CHECK (((failed >= 0) AND (failed <= runs))),
  constraint account_days_credits_check CHECK ((credits >= 0)),
  constraint account_days_ms_check CHECK ((ms >= 0)),
  constraint account_days_runs_check CHECK ((runs > 0))
);

create table account_files (
  account_id text not null,
  bytes bigint not null,
  constraint account_files_pkey PRIMARY KEY (account_id),
  constraint account_files_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_files_bytes_check CHECK ((bytes >= 0))
);

create table account_letters (
  id uuid default gen_random_uuid() not null,
  account_id text not null,
  subject text not null,
  text text not null,
  since timestamp with time zone default now() not null,
  kind text default 'other'::text not null,
  claimed_until timestamp with time zone,
  awaits text,
  address text,
  constraint account_letters_pkey PRIMARY KEY (id),
  constraint account_letters_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

create table accounts (
  id text not null,
  handle text not null,
  state text default 'open'::text not null,
  created_at timestamp with time zone default now() not null,
  handle_changed_at timestamp with time zone,
  calls_per_minute_max integer default 600 not null,
  about text,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_about_check CHECK (((length(about) >= 1) AND (length(about) <= 300))),
  constraint accounts_calls_per_minute_max_check CHECK (((calls_per_minute_max >= 1) AND (calls_per_minute_max <= 100000))),
  constraint accounts_handle_check CHECK ((handle ~ '^[a-z0-9][a-z0-9-]{1,28}[a-z0-9]$'::text)),
  constraint accounts_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text, 'suspended'::text])))
);

create table agent_days (
  agent_id text not null,
  day date not null,
  payer text not null,
  runs bigint not null,
  failed bigint not null,
  credits bigint not null,
  units numeric(40,0) not null,
  constraint agent_days_pkey PRIMARY KEY (agent_id, day, payer),
  constraint agent_days_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint agent_days_check CHECK (((failed >= 0) AND (failed <= runs))),
  constraint agent_days_credits_check CHECK ((credits >= 0)),
  constraint agent_days_runs_check CHECK ((runs >= 0)),
  constraint agent_days_units_check CHECK ((units >= (0)::numeric))
);

create table agent_drafts (
  account_id text not null,
  slug text not null,
  revision bigint default nextval('agent_draft_revisions'::regclass) not null,
  definition jsonb not null,
  sealed_secrets jsonb default '{}'::jsonb not null,
  tried_revision bigint,
  tried_well boolean,
  saved_at timestamp with time zone default now() not null,
  constraint agent_drafts_pkey PRIMARY KEY (account_id, slug),
  constraint agent_drafts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint agent_drafts_check CHECK (((tried_revision IS NULL) = (tried_well IS NULL))),
  constraint agent_drafts_slug_check CHECK ((slug ~ '^[a-z0-9][a-z0-9-]{1,46}[a-z0-9]$'::text))
);

create table agent_examples (
  agent_id text not null,
  run_id text not null,
  version integer not null,
  input jsonb not null,
  output jsonb not null,
  receipt jsonb,
  took_ms integer not null,
  ran_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  constraint agent_examples_pkey PRIMARY KEY (agent_id, run_id),
  constraint agent_examples_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint agent_examples_took_ms_check CHECK ((took_ms >= 0))
);

create table agent_figures (
  agent_id text not null,
  runs bigint not null,
  succeeded bigint not null,
  median_ms integer,
  p95_ms integer,
  last_success_at timestamp with time zone,
  constraint agent_figures_pkey PRIMARY KEY (agent_id),
  constraint agent_figures_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint agent_figures_check CHECK (((succeeded >= 0) AND (succeeded <= runs)))
) with (fillfactor=70);

create table agent_letters (
  agent_id text not null,
  reason text not null,
  day date not null,
  constraint agent_letters_pkey PRIMARY KEY (agent_id, reason),
  constraint agent_letters_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id)
);

create table agent_notices (
  agent_id text not null,
  kind text not null,
  version integer not null,
  times integer default 1 not null,
  first_at timestamp with time zone default now() not null,
  last_at timestamp with time zone default now() not null,
  constraint agent_notices_pkey PRIMARY KEY (agent_id, kind),
  constraint agent_notices_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id)
);

create table agent_run_counts (
  agent_id text not null,
  day date not null,
  outcome smallint not null,
  runs bigint not null,
  last_at timestamp with time zone not null,
  constraint agent_run_counts_pkey PRIMARY KEY (agent_id, day, outcome),
  constraint agent_run_counts_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint agent_run_counts_outcome_check CHECK (((outcome >= '-1'::integer) AND (outcome <= 999))),
  constraint agent_run_counts_runs_check CHECK ((runs > 0))
);

create table agent_versions (
  agent_id text not null,
  version integer not null,
  name text not null,
  description text not null,
  connector text not null,
  price_credits bigint not null,
  fields jsonb not null,
  accepts_extra_instructions boolean not null,
  output_kind text not null,
  settings jsonb not null,
  sealed_secrets jsonb default '{}'::jsonb not null,
  search tsvector not null,
  created_at timestamp with time zone default now() not null,
  category text default 'other'::text not null,
  tags text[] default '{}'::text[] not null,
  needs_account boolean default false not null,
  published_at timestamp with time zone,
  constraint agent_versions_pkey PRIMARY KEY (agent_id, version),
  constraint agent_versions_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint agent_versions_output_kind_check CHECK ((output_kind = ANY (ARRAY['text'::text, 'image'::text, 'json'::text, 'receipt'::text]))),
  constraint agent_versions_price_credits_check CHECK (((price_credits >= 0) AND (price_credits <= 1000000))),
  constraint agent_versions_version_check CHECK ((version > 0))
);

create table agents (
  id text not null,
  account_id text not null,
  handle text not null,
  slug text not null,
  tool_name text not null,
  state text default 'draft'::text not null,
  suspended_from text,
  live_version integer,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  model_credits_per_day bigint,
  definition_bytes bigint,
  constraint agents_pkey PRIMARY KEY (id),
  constraint agents_tool_name_key UNIQUE (tool_name),
  constraint agents_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint agents_id_live_version_fkey FOREIGN KEY (id, live_version) REFERENCES agent_versions(agent_id, version),
  constraint agents_check CHECK (((state <> 'live'::text) OR (live_version IS NOT NULL))),
  constraint agents_check1 CHECK (((state = 'suspended'::text) = (suspended_from IS NOT NULL))),
  constraint agents_model_credits_per_day_check CHECK (((model_credits_per_day >= 0) AND (model_credits_per_day <= 1000000000))),
  constraint agents_slug_check CHECK ((slug ~ '^[a-z0-9][a-z0-9-]{1,46}[a-z0-9]$'::text)),
  constraint agents_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'live'::text, 'unpublished'::text, 'suspended'::text]))),
  constraint agents_suspended_from_check CHECK ((suspended_from = ANY (ARRAY['live'::text, 'unpublished'::text])))
);

create table api_keys (
  id text not null,
  account_id text not null,
  slot smallint not null,
  name text not null,
  digest bytea not null,
  start text not null,
  last4 text not null,
  scope text not null,
  scope_agents text[] default '{}'::text[] not null,
  rate_limit_per_minute integer not null,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  max_credits_per_day bigint,
  max_credits_per_month bigint,
  last_used_from text,
  last_used_by text,
  caps_changed_at timestamp with time zone,
  tools text default 'all'::text not null,
  client text,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_digest_key UNIQUE (digest),
  constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint api_keys_client_check CHECK ((length(client) <= 500)),
  constraint api_keys_digest_check CHECK ((length(digest) = 32)),
  constraint api_keys_last_used_by_check CHECK ((length(last_used_by) <= 60)),
  constraint api_keys_last_used_from_check CHECK ((length(last_used_from) <= 60)),
  constraint api_keys_max_credits_per_day_check CHECK (((max_credits_per_day >= 0) AND (max_credits_per_day <= 1000000000))),
  constraint api_keys_max_credits_per_month_check CHECK (((max_credits_per_month >= 0) AND (max_credits_per_month <= 1000000000))),
  constraint api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint api_keys_rate_limit_per_minute_check CHECK (((rate_limit_per_minute >= 1) AND (rate_limit_per_minute <= 100000))),
  constraint api_keys_scope_check CHECK ((scope = ANY (ARRAY['own_agents'::text, 'chosen_agents'::text, 'rest_only'::text]))),
  constraint api_keys_slot_check CHECK (
CASE
    WHEN (client IS NULL) THEN ((slot >= 1) AND (slot <= 5))
    ELSE ((slot >= 101) AND (slot <= 120))
END),
  constraint api_keys_tools_check CHECK ((tools = ANY (ARRAY['all'::text, 'search'::text])))
);

create table asked_links (
  mailbox text not null,
  asker text not null,
  day date default CURRENT_DATE not null,
  links integer default 1 not null,
  constraint asked_links_pkey PRIMARY KEY (mailbox, asker, day)
);

create table balances (
  account_id text not null,
  spendable bigint default 0 not null,
  constraint balances_pkey PRIMARY KEY (account_id),
  constraint balances_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint balances_spendable_check CHECK (((spendable >= 0) AND (spendable <= '9007199254740991'::bigint)))
) with (fillfactor=70);

create table cap_alerts (
  key_id text not null,
  per text not null,
  day date not null,
  constraint cap_alerts_pkey PRIMARY KEY (key_id, per, day),
  constraint cap_alerts_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint cap_alerts_per_check CHECK ((per = ANY (ARRAY['day'::text, 'month'::text])))
);

create table credit_alerts (
  account_id text not null,
  balance_below bigint,
  cap_percent integer,
  is_below boolean default false not null,
  told_at timestamp with time zone,
  refused_at timestamp with time zone,
  constraint credit_alerts_pkey PRIMARY KEY (account_id),
  constraint credit_alerts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint credit_alerts_balance_below_check CHECK (((balance_below >= 1) AND (balance_below <= 1000000000))),
  constraint credit_alerts_cap_percent_check CHECK (((cap_percent >= 1) AND (cap_percent <= 100))),
  constraint credit_alerts_check CHECK (((balance_below IS NOT NULL) OR (cap_percent IS NOT NULL)))
);

create table debts (
  network text not null,
  payment_key text not null,
  agent_id text not null,
  payer text,
  transaction_id text not null,
  asset text not null,
  amount text not null,
  error text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint debts_pkey PRIMARY KEY (network, payment_key),
  constraint debts_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id)
);

create table effects (
  key text not null,
  run_id text not null,
  agent_id text not null,
  network text,
  transaction_ids text[] default '{}'::text[] not null,
  valid_until timestamp with time zone,
  asset text,
  amount numeric(40,0) default 0 not null,
  state text not null,
  promised json not null,
  output json,
  receipt json,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  fee bigint default 0 not null,
  fee_open bigint default 0 not null,
  constraint effects_pkey PRIMARY KEY (key),
  constraint effects_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint effects_amount_check CHECK ((amount >= (0)::numeric)),
  constraint effects_check CHECK (((state = 'done'::text) = (output IS NOT NULL))),
  constraint effects_check1 CHECK (((fee_open >= 0) AND (fee_open <= fee))),
  constraint effects_fee_check CHECK ((fee >= 0)),
  constraint effects_state_check CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'void'::text])))
);

create table email_changes (
  user_id text not null,
  email text not null,
  token_hash text not null,
  expires_at timestamp with time zone not null,
  done_at timestamp with time zone,
  session_id text,
  constraint email_changes_pkey PRIMARY KEY (user_id),
  constraint email_changes_token_hash_key UNIQUE (token_hash),
  constraint email_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_users(id) ON DELETE CASCADE,
  constraint email_changes_email_check CHECK ((length(email) <= 254))
);

create table failed_requests (
  request_id text not null,
  at timestamp with time zone default now() not null,
  method text not null,
  path text not null,
  status integer not null,
  kind text not null,
  place text,
  constraint failed_requests_pkey PRIMARY KEY (request_id, at),
  constraint failed_requests_kind_check CHECK ((length(kind) <= 100)),
  constraint failed_requests_method_check CHECK ((length(method) <= 10)),
  constraint failed_requests_path_check CHECK ((length(path) <= 300)),
  constraint failed_requests_place_check CHECK ((length(place) <= 200)),
  constraint failed_requests_request_id_check CHECK ((length(request_id) <= 64))
);

create table files (
  name text not null,
  account_id text not null,
  agent_id text,
  run_id text,
  bytes integer not null,
  hidden_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  shared boolean default false not null,
  deleted_at timestamp with time zone,
  made_again_at timestamp with time zone,
  constraint files_pkey PRIMARY KEY (name),
  constraint files_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint files_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint files_bytes_check CHECK ((bytes >= 0)),
  constraint files_name_check CHECK ((name ~ '^[0-9a-f]{64}\.(png|jpg|webp|svg|pdf)$'::text))
);

create table full_accounts (
  account_id text not null,
  constraint full_accounts_pkey PRIMARY KEY (account_id),
  constraint full_accounts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

create table handles (
  handle text not null,
  account_id text not null,
  since timestamp with time zone default now() not null,
  constraint handles_pkey PRIMARY KEY (handle),
  constraint handles_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint handles_handle_check CHECK ((handle = lower(handle)))
);

create table home_tries (
  client text not null,
  day date not null,
  tries integer not null,
  credits bigint not null,
  constraint home_tries_pkey PRIMARY KEY (client, day),
  constraint home_tries_credits_check CHECK ((credits >= 0)),
  constraint home_tries_tries_check CHECK ((tries >= 0))
);

create table key_days (
  key_id text not null,
  day date not null,
  spent bigint not null,
  cap bigint not null,
  constraint key_days_pkey PRIMARY KEY (key_id, day),
  constraint key_days_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint key_days_cap CHECK (((spent >= 0) AND (spent <= cap)))
);

create table ledger_proofs (
  account_id text not null,
  since timestamp with time zone default now() not null,
  constraint ledger_proofs_pkey PRIMARY KEY (account_id),
  constraint ledger_proofs_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

create table letters_sent (
  address text not null,
  day date default CURRENT_DATE not null,
  letters integer default 1 not null,
  constraint letters_sent_pkey PRIMARY KEY (address, day)
);

create table links_from (
  client text not null,
  day date default CURRENT_DATE not null,
  links integer default 1 not null,
  constraint links_from_pkey PRIMARY KEY (client, day)
);

create table listing_counts (
  creator text not null,
  connector text not null,
  agents bigint not null,
  constraint listing_counts_pkey PRIMARY KEY (creator, connector),
  constraint listing_counts_agents_check CHECK ((agents >= 0))
);

create table listing_facets (
  facet text not null,
  agents bigint not null,
  constraint listing_facets_pkey PRIMARY KEY (facet),
  constraint listing_facets_agents_check CHECK ((agents >= 0))
) with (fillfactor=70);

create table listing_names (
  word text not null,
  connector text not null,
  created_at timestamp with time zone not null,
  agent_id text not null
);

create table listing_typos (
  shape text not null,
  word text not null,
  constraint listing_typos_pkey PRIMARY KEY (shape, word)
);

create table listing_words (
  connector text not null,
  word text not null,
  agents bigint not null,
  names bigint not null,
  constraint listing_words_pkey PRIMARY KEY (connector, word),
  constraint listing_words_agents_check CHECK ((agents >= 0)),
  constraint listing_words_check CHECK (((names >= 0) AND (names <= agents)))
) with (fillfactor=70);

create table listings (
  agent_id text not null,
  handle text not null,
  slug text not null,
  name text not null,
  description text not null,
  connector text not null,
  price_credits bigint not null,
  search tsvector not null,
  created_at timestamp with time zone not null,
  category text default 'other'::text not null,
  tags text[] default '{}'::text[] not null,
  networks text[] default '{}'::text[] not null,
  per_call boolean default false not null,
  facets text[] default '{}'::text[] not null,
  runs bigint default 0 not null,
  constraint listings_pkey PRIMARY KEY (agent_id),
  constraint listings_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id)
);

create table model_claims (
  run_id text not null,
  agent_id text not null,
  day date not null,
  credits bigint not null,
  borne boolean default false not null,
  claimed_at timestamp with time zone default now() not null,
  buyer text,
  address text,
  constraint model_claims_pkey PRIMARY KEY (run_id),
  constraint model_claims_credits_check CHECK ((credits >= 0))
);

create table model_days (
  agent_id text not null,
  day date not null,
  account_id text not null,
  taken bigint default 0 not null,
  lent bigint default 0 not null,
  spent bigint default 0 not null,
  closed boolean default false not null,
  touched_at timestamp with time zone default now() not null,
  constraint model_days_pkey PRIMARY KEY (agent_id, day),
  constraint model_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint model_days_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint model_days_check CHECK (((spent >= 0) AND (spent <= (taken + lent)))),
  constraint model_days_lent_check CHECK ((lent >= 0)),
  constraint model_days_taken_check CHECK ((taken >= 0))
) with (fillfactor=50);

create table model_debts (
  account_id text not null,
  owed bigint not null,
  constraint model_debts_pkey PRIMARY KEY (account_id),
  constraint model_debts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint model_debts_owed_check CHECK ((owed >= 0))
);

create table model_failures (
  agent_id text not null,
  caller text not null,
  failures integer not null,
  since timestamp with time zone not null,
  constraint model_failures_pkey PRIMARY KEY (agent_id, caller),
  constraint model_failures_failures_check CHECK ((failures > 0))
);

create table moved_earnings (
  account_id text not null,
  idempotency_key text not null,
  amount bigint not null,
  credits bigint not null,
  earned_credits bigint not null,
  moved_at timestamp with time zone default now() not null,
  constraint moved_earnings_pkey PRIMARY KEY (account_id, idempotency_key)
);

create table new_wallets (
  client text not null,
  day date not null,
  wallets integer not null,
  constraint new_wallets_pkey PRIMARY KEY (client, day)
);

create table newest_links (
  address text not null,
  asker text not null,
  token_hash text not null,
  expires_at timestamp with time zone not null,
  constraint newest_links_pkey PRIMARY KEY (address, asker)
);

create table oauth_clients (
  id text not null,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  registered_from text,
  key_id text,
  constraint oauth_clients_pkey PRIMARY KEY (id),
  constraint oauth_clients_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint oauth_clients_id_check CHECK ((length(id) <= 500)),
  constraint oauth_clients_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint oauth_clients_redirect_uris_check CHECK (((cardinality(redirect_uris) >= 1) AND (cardinality(redirect_uris) <= 10)))
);

create table oauth_requests (
  id text not null,
  client_id text not null,
  client_name text not null,
  redirect_uri text not null,
  state text,
  challenge text not null,
  expires_at timestamp with time zone not null,
  asked_from text,
  constraint oauth_requests_pkey PRIMARY KEY (id),
  constraint oauth_requests_state_check CHECK ((length(state) <= 2000))
);

create table oauth_secrets (
  digest bytea not null,
  kind text not null,
  key_id text not null,
  redirect_uri text,
  challenge text,
  used_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  issued_at timestamp with time zone default now() not null,
  constraint oauth_secrets_pkey PRIMARY KEY (digest),
  constraint oauth_secrets_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint oauth_secrets_digest_check CHECK ((length(digest) = 32)),
  constraint oauth_secrets_kind_check CHECK ((kind = ANY (ARRAY['code'::text, 'access'::text, 'refresh'::text])))
);

create table operator_act_accounts (
  account_id text not null,
  act_id bigint not null,
  shown text,
  constraint operator_act_accounts_pkey PRIMARY KEY (account_id, act_id),
  constraint operator_act_accounts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint operator_act_accounts_act_id_fkey FOREIGN KEY (act_id) REFERENCES operator_acts(id)
);

create table operator_acts (
  id bigint generated always as identity,
  at timestamp with time zone default now() not null,
  operator_id text,
  act text not null,
  subject text not null,
  credits bigint,
  reason text,
  note text,
  constraint operator_acts_pkey PRIMARY KEY (id),
  constraint operator_acts_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES accounts(id),
  constraint operator_acts_credits_check CHECK ((credits > 0)),
  constraint operator_acts_note_check CHECK ((length(note) <= 2000)),
  constraint operator_acts_reason_check CHECK ((length(reason) <= 2000)),
  constraint operator_acts_subject_check CHECK ((length(subject) <= 300))
);

create table operator_confirmations (
  session_id text not null,
  account_id text not null,
  until timestamp with time zone not null,
  constraint operator_confirmations_pkey PRIMARY KEY (session_id),
  constraint operator_confirmations_account_id_fkey FOREIGN KEY (account_id) REFERENCES operators(account_id) ON DELETE CASCADE,
  constraint operator_confirmations_session_id_fkey FOREIGN KEY (session_id) REFERENCES sign_in_sessions(id) ON DELETE CASCADE
);

create table operator_grant_days (
  day date not null,
  granted bigint not null,
  constraint operator_grant_days_pkey PRIMARY KEY (day),
  constraint operator_grant_days_granted_check CHECK ((granted >= 0))
);

create table operators (
  account_id text not null,
  totp_secret text not null,
  last_step bigint default 0 not null,
  attempts integer default 0 not null,
  attempts_since timestamp with time zone default now() not null,
  named_at timestamp with time zone default now() not null,
  constraint operators_pkey PRIMARY KEY (account_id),
  constraint operators_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint operators_attempts_check CHECK ((attempts >= 0))
);

create table output_days (
  account_id text not null,
  day date not null,
  bytes bigint not null,
  let_go_until timestamp with time zone,
  constraint output_days_pkey PRIMARY KEY (account_id, day),
  constraint output_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint output_days_bytes_check CHECK ((bytes >= 0))
);

create table paid_calls (
  network text not null,
  payment_key text not null,
  product text not null,
  call_digest bytea not null,
  requirements json not null,
  proof json,
  payer text,
  run_id text not null,
  output json,
  receipt json,
  transaction_id text,
  holder uuid,
  lease_until timestamp with time zone,
  delivered_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  agent_version integer,
  result_at timestamp with time zone,
  payload_digest bytea,
  may_have_paid boolean default false not null,
  constraint paid_calls_pkey PRIMARY KEY (network, payment_key),
  constraint paid_calls_check CHECK (((holder IS NULL) = (lease_until IS NULL)))
) with (fillfactor=50);

create table passkey_challenges (
  session_id text not null,
  challenge text not null,
  expires_at timestamp with time zone not null,
  constraint passkey_challenges_pkey PRIMARY KEY (session_id),
  constraint passkey_challenges_session_id_fkey FOREIGN KEY (session_id) REFERENCES sign_in_sessions(id) ON DELETE CASCADE
);

create table payout_wallets (
  id text not null,
  account_id text not null,
  network text not null,
  address text not null,
  state text not null,
  checked_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  problem text,
  challenge text,
  challenge_expires_at timestamp with time zone,
  looked_at timestamp with time zone,
  reason text,
  proved_at timestamp with time zone,
  proved_key text,
  constraint payout_wallets_pkey PRIMARY KEY (id),
  constraint payout_wallets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint payout_wallets_check CHECK ((((state = 'unchecked'::text) = (checked_at IS NULL)) OR (state = 'retired'::text))),
  constraint payout_wallets_state_check CHECK ((state = ANY (ARRAY['unchecked'::text, 'checked'::text, 'unpayable'::text, 'retired'::text])))
);

create table postings (
  id bigint generated always as identity,
  kind text not null,
  from_purse text not null,
  to_purse text not null,
  amount bigint not null,
  run_id text,
  reference text,
  note text,
  created_at timestamp with time zone default now() not null,
  constraint postings_pkey PRIMARY KEY (id),
  constraint postings_reference_key UNIQUE (reference),
  constraint postings_amount_check CHECK ((amount > 0)),
  constraint postings_check CHECK ((from_purse <> to_purse)),
  constraint postings_shape CHECK ((
CASE kind
    WHEN 'grant'::text THEN ((run_id IS NULL) AND (from_purse = 'platform:issued'::text) AND (to_purse ~~ 'spendable:%'::text))
    WHEN 'purchase'::text THEN ((run_id IS NULL) AND (reference IS NOT NULL) AND (from_purse = 'platform:issued'::text) AND (to_purse ~~ 'spendable:%'::text))
    WHEN 'transfer'::text THEN ((run_id IS NULL) AND (from_purse ~~ 'earned:%'::text) AND (to_purse = ('spendable:'::text || substr(from_purse, (length('earned:'::text) + 1)))))
    WHEN 'hold'::text THEN ((from_purse ~~ 'spendable:%'::text) AND (to_purse = ('held:'::text || run_id)))
    WHEN 'capture'::text THEN ((from_purse = ('held:'::text || run_id)) AND (to_purse ~~ 'earned:%'::text))
    WHEN 'fee'::text THEN ((from_purse = ('held:'::text || run_id)) AND (to_purse = 'platform:fees'::text))
    WHEN 'release'::text THEN ((from_purse = ('held:'::text || run_id)) AND (to_purse ~~ 'spendable:%'::text))
    WHEN 'reward'::text THEN ((run_id IS NOT NULL) AND (from_purse ~~ 'spendable:%'::text) AND (to_purse ~~ 'spendable:%'::text))
    WHEN 'model_reserve'::text THEN ((run_id IS NULL) AND ((from_purse ~~ 'spendable:%'::text) OR (from_purse ~~ 'owed:%'::text)) AND (to_purse ~~ 'models:%'::text))
    WHEN 'model_return'::text THEN ((run_id IS NULL) AND (from_purse ~~ 'models:%'::text) AND ((to_purse ~~ 'spendable:%'::text) OR (to_purse ~~ 'owed:%'::text)))
    WHEN 'model_cost'::text THEN ((to_purse = 'platform:models'::text) AND (((run_id IS NULL) AND (from_purse ~~ 'models:%'::text)) OR (from_purse = ('held:'::text || run_id))))
    WHEN 'repayment'::text THEN ((run_id IS NULL) AND (from_purse ~~ 'spendable:%'::text) AND (to_purse = ('owed:'::text || substr(from_purse, (length('spendable:'::text) + 1)))))
    ELSE false
END IS TRUE)) NOT VALID
);

create table purse_totals (
  purse text not null,
  total bigint not null,
  through timestamp with time zone not null,
  constraint purse_totals_pkey PRIMARY KEY (purse)
);

create table quote_secret (
  one boolean default true not null,
  secret bytea not null,
  constraint quote_secret_pkey PRIMARY KEY (one),
  constraint quote_secret_one_check CHECK (one)
);

create unlogged table rate_limits (
  subject text not null,
  second bigint not null,
  calls integer[] not null,
  constraint rate_limits_pkey PRIMARY KEY (subject)
) with (fillfactor=50);

create table refused_calls (
  key_id text not null,
  minute timestamp with time zone not null,
  reason text not null,
  asked text not null,
  calls bigint not null,
  constraint refused_calls_pkey PRIMARY KEY (key_id, minute, reason, asked),
  constraint refused_calls_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint refused_calls_asked_check CHECK ((length(asked) <= 200)),
  constraint refused_calls_calls_check CHECK ((calls > 0)),
  constraint refused_calls_reason_check CHECK ((length(reason) <= 20))
);

create table report_days (
  subject text not null,
  day date not null,
  reports integer not null,
  constraint report_days_pkey PRIMARY KEY (subject, day)
);

create table reports (
  id text not null,
  agent_id text not null,
  version integer not null,
  reason text not null,
  text text not null,
  email text,
  created_at timestamp with time zone default now() not null,
  resolved_at timestamp with time zone,
  note text,
  run_id text,
  constraint reports_pkey PRIMARY KEY (id),
  constraint reports_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint reports_check CHECK (((note IS NULL) OR (resolved_at IS NOT NULL))),
  constraint reports_email_check CHECK ((length(email) <= 254)),
  constraint reports_note_check CHECK ((length(note) <= 2000)),
  constraint reports_text_check CHECK ((length(text) <= 2000))
);

create table reservations (
  holder text not null,
  pool text not null,
  amount numeric(40,0) not null,
  on_ledger boolean not null,
  until timestamp with time zone not null,
  spent_at timestamp with time zone,
  constraint reservations_pkey PRIMARY KEY (holder, pool),
  constraint reservations_amount_check CHECK ((amount > (0)::numeric))
);

create table rewards (
  id bigint generated always as identity,
  agent_id text not null,
  effect_key text not null,
  run_id text not null,
  post_id text not null,
  author_id text not null,
  username text not null,
  recipient text not null,
  asset text not null,
  amount numeric(40,0) not null,
  state text not null,
  created_at timestamp with time zone default now() not null,
  constraint rewards_pkey PRIMARY KEY (id),
  constraint rewards_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint rewards_effect_key_fkey FOREIGN KEY (effect_key) REFERENCES effects(key),
  constraint rewards_amount_check CHECK ((amount > (0)::numeric)),
  constraint rewards_state_check CHECK ((state = ANY (ARRAY['claimed'::text, 'paid'::text, 'void'::text])))
);

create table run_count_progress (
  one boolean default true not null,
  counted_until timestamp with time zone not null,
  constraint run_count_progress_pkey PRIMARY KEY (one),
  constraint run_count_progress_one_check CHECK (one)
);

create table run_shares (
  token text not null,
  run_id text not null,
  account_id text not null,
  with_input boolean not null,
  created_at timestamp with time zone default now() not null,
  constraint run_shares_pkey PRIMARY KEY (token),
  constraint run_shares_run_id_key UNIQUE (run_id),
  constraint run_shares_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint run_shares_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  constraint run_shares_token_check CHECK ((length(token) = 22))
);

create table runs (
  id text not null,
  rail text not null,
  account_id text,
  key_id text,
  agent_id text not null,
  agent_version integer not null,
  price_credits bigint not null,
  state text not null,
  output json,
  receipt json,
  error text,
  lease_until timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  idempotency_key text,
  request_digest bytea,
  credits_remaining bigint,
  input json,
  constraint runs_pkey PRIMARY KEY (id),
  constraint runs_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint runs_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id),
  constraint runs_check CHECK (((rail = 'credits'::text) = (account_id IS NOT NULL))),
  constraint runs_check1 CHECK (((state = 'running'::text) = (finished_at IS NULL))),
  constraint runs_check2 CHECK (((state = 'running'::text) = (lease_until IS NOT NULL))),
  constraint runs_check3 CHECK (((idempotency_key IS NULL) = (request_digest IS NULL))),
  constraint runs_idempotency_key_check CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 255))),
  constraint runs_price_credits_check CHECK ((price_credits >= 0)),
  constraint runs_rail_check CHECK ((rail = ANY (ARRAY['credits'::text, 'per_call'::text]))),
  constraint runs_request_digest_check CHECK ((length(request_digest) = 32)),
  constraint runs_state_check CHECK ((state = ANY (ARRAY['running'::text, 'succeeded'::text, 'failed'::text, 'lost'::text])))
) with (fillfactor=70);

create table sign_in_identities (
  id text not null,
  user_id text not null,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  password text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint sign_in_identities_pkey PRIMARY KEY (id),
  constraint sign_in_identities_provider_id_account_id_key UNIQUE (provider_id, account_id),
  constraint sign_in_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_users(id) ON DELETE CASCADE
);

create table sign_in_links (
  address text not null,
  token_hash text not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_links_pkey PRIMARY KEY (address)
);

create table sign_in_passkeys (
  id text not null,
  user_id text not null,
  name text not null,
  credential_id text not null,
  public_key text not null,
  counter double precision not null,
  device_type text not null,
  backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamp with time zone default now() not null,
  used_at timestamp with time zone,
  constraint sign_in_passkeys_pkey PRIMARY KEY (id),
  constraint sign_in_passkeys_credential_id_key UNIQUE (credential_id),
  constraint sign_in_passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_users(id) ON DELETE CASCADE
);

create table sign_in_sessions (
  id text not null,
  user_id text not null,
  token text not null,
  expires_at timestamp with time zone not null,
  ip_address text,
  user_agent text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint sign_in_sessions_pkey PRIMARY KEY (id),
  constraint sign_in_sessions_token_key UNIQUE (token),
  constraint sign_in_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_users(id) ON DELETE CASCADE
);

create table sign_in_users (
  id text not null,
  name text not null,
  email text not null,
  email_verified boolean not null,
  image text,
  wallet_network text,
  wallet_address text,
  account_id text,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint sign_in_users_pkey PRIMARY KEY (id),
  constraint sign_in_users_account_id_key UNIQUE (account_id),
  constraint sign_in_users_email_key UNIQUE (email),
  constraint sign_in_users_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint sign_in_users_check CHECK (((wallet_address IS NULL) OR (account_id IS NULL)))
);

create table sign_in_verifications (
  id text not null,
  identifier text not null,
  value text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint sign_in_verifications_pkey PRIMARY KEY (id)
);

create table statement_marks (
  account_id text not null,
  through timestamp with time zone not null,
  kind text not null,
  postings bigint not null,
  spendable bigint not null,
  earned bigint not null,
  constraint statement_marks_pkey PRIMARY KEY (account_id, through, kind),
  constraint statement_marks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint statement_marks_postings_check CHECK ((postings > 0))
);

create table suspension_letters (
  account_id text not null,
  subject text not null,
  reason text,
  since timestamp with time zone default now() not null,
  claimed_until timestamp with time zone,
  constraint suspension_letters_pkey PRIMARY KEY (account_id, subject),
  constraint suspension_letters_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

create table svg_tries (
  client text not null,
  day date not null,
  tries integer not null,
  constraint svg_tries_pkey PRIMARY KEY (client, day),
  constraint svg_tries_tries_check CHECK ((tries >= 0))
);

create table tool_names (
  tool_name text not null,
  agent_id text not null,
  constraint tool_names_pkey PRIMARY KEY (tool_name),
  constraint tool_names_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id)
);

create table try_days (
  subject text not null,
  day date not null,
  spent bigint not null,
  constraint try_days_pkey PRIMARY KEY (subject, day),
  constraint try_days_spent_check CHECK ((spent >= 0))
);

create table unsettled_results (
  network text not null,
  payment_key text not null,
  agent_id text not null,
  day date not null,
  constraint unsettled_results_pkey PRIMARY KEY (network, payment_key),
  constraint unsettled_results_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id)
);

create table wallets_shown (
  network text not null,
  address text not null,
  nonce text not null,
  expires_at timestamp with time zone not null,
  constraint wallets_shown_pkey PRIMARY KEY (network, address, nonce)
);

CREATE INDEX account_days_by_age ON public.account_days USING btree (day);

CREATE INDEX account_letters_of_account ON public.account_letters USING btree (account_id);

CREATE UNIQUE INDEX accounts_handle ON public.accounts USING btree (lower(handle));

CREATE INDEX agent_days_by_age ON public.agent_days USING btree (day);

CREATE INDEX agent_run_counts_by_age ON public.agent_run_counts USING btree (day);

CREATE UNIQUE INDEX agents_address ON public.agents USING btree (lower(handle), lower(slug));

CREATE INDEX agents_as_tools ON public.agents USING btree (account_id, tool_name) WHERE (state = 'live'::text);

CREATE UNIQUE INDEX agents_of_account ON public.agents USING btree (account_id, lower(slug));

CREATE INDEX api_keys_by_client ON public.api_keys USING btree (client) WHERE ((client IS NOT NULL) AND (revoked_at IS NULL));

CREATE INDEX api_keys_of_clients ON public.api_keys USING btree (id) WHERE ((client IS NOT NULL) AND (revoked_at IS NULL));

CREATE INDEX api_keys_revoked ON public.api_keys USING btree (account_id, created_at DESC, id DESC) WHERE (revoked_at IS NOT NULL);

CREATE UNIQUE INDEX api_keys_slot ON public.api_keys USING btree (account_id, slot) WHERE (revoked_at IS NULL);

CREATE INDEX cap_alerts_by_age ON public.cap_alerts USING btree (day);

CREATE INDEX debts_of_agent ON public.debts USING btree (agent_id, created_at DESC);

CREATE INDEX effects_fees ON public.effects USING btree (network, created_at) INCLUDE (fee, agent_id) WHERE (fee > 0);

CREATE INDEX effects_fees_open ON public.effects USING btree (updated_at) WHERE (fee_open > 0);

CREATE INDEX effects_of_run ON public.effects USING btree (run_id);

CREATE INDEX effects_open ON public.effects USING btree (valid_until) WHERE (state = 'open'::text);

CREATE INDEX effects_spent ON public.effects USING btree (agent_id, created_at) WHERE (state <> 'void'::text);

CREATE INDEX failed_requests_by_age ON public.failed_requests USING btree (at);

CREATE INDEX files_of_account ON public.files USING btree (account_id, created_at DESC, name);

CREATE INDEX files_of_agent ON public.files USING btree (agent_id, created_at DESC, name) WHERE (agent_id IS NOT NULL);

CREATE INDEX files_of_run ON public.files USING btree (run_id) WHERE (run_id IS NOT NULL);

CREATE INDEX handles_of_account ON public.handles USING btree (account_id);

CREATE INDEX key_days_by_age ON public.key_days USING btree (day);

CREATE INDEX listing_names_newest ON public.listing_names USING btree (word, created_at DESC, agent_id);

CREATE INDEX listing_names_of_connector ON public.listing_names USING btree (word, connector, created_at DESC, agent_id);

CREATE INDEX listings_cheapest ON public.listings USING btree (price_credits, created_at DESC, agent_id) INCLUDE (connector, facets);

CREATE INDEX listings_facets ON public.listings USING gin (facets);

CREATE INDEX listings_most_run ON public.listings USING btree (runs DESC, created_at DESC, agent_id) INCLUDE (connector, price_credits, facets);

CREATE INDEX listings_narrowed ON public.listings USING gin (array_append(facets, ('connector:'::text || connector)));

CREATE INDEX listings_newest ON public.listings USING btree (created_at DESC, agent_id) INCLUDE (connector, price_credits, facets);

CREATE INDEX listings_of_connector ON public.listings USING btree (connector, created_at DESC, agent_id);

CREATE INDEX listings_of_creator ON public.listings USING btree (lower(handle), created_at DESC, agent_id);

CREATE INDEX listings_search ON public.listings USING gin (search);

CREATE INDEX model_claims_of ON public.model_claims USING btree (agent_id, day);

CREATE INDEX model_days_lent ON public.model_days USING btree (day) INCLUDE (lent) WHERE (lent > 0);

CREATE INDEX model_days_open ON public.model_days USING btree (touched_at) WHERE (NOT closed);

CREATE INDEX model_failures_ended ON public.model_failures USING btree (since);

CREATE INDEX moved_earnings_old ON public.moved_earnings USING btree (moved_at);

CREATE INDEX newest_links_ended ON public.newest_links USING btree (expires_at);

CREATE INDEX oauth_clients_by_age ON public.oauth_clients USING btree (created_at);

CREATE INDEX oauth_clients_by_end ON public.oauth_clients USING btree (expires_at);

CREATE INDEX oauth_clients_by_key ON public.oauth_clients USING btree (key_id);

CREATE INDEX oauth_clients_by_origin ON public.oauth_clients USING btree (registered_from, created_at);

CREATE INDEX oauth_requests_by_end ON public.oauth_requests USING btree (expires_at);

CREATE INDEX oauth_requests_by_origin ON public.oauth_requests USING btree (asked_from);

CREATE INDEX oauth_secrets_by_end ON public.oauth_secrets USING btree (expires_at);

CREATE INDEX oauth_secrets_by_key ON public.oauth_secrets USING btree (key_id, kind, issued_at);

CREATE INDEX operator_acts_newest ON public.operator_acts USING btree (at DESC, id DESC);

CREATE INDEX operator_acts_of_operator ON public.operator_acts USING btree (operator_id, at DESC, id DESC);

CREATE INDEX operator_confirmations_of_account ON public.operator_confirmations USING btree (account_id);

CREATE INDEX output_days_by_age ON public.output_days USING btree (day);

CREATE INDEX paid_calls_begun ON public.paid_calls USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX paid_calls_of_product ON public.paid_calls USING btree (product, created_at DESC, payment_key);

CREATE INDEX paid_calls_results ON public.paid_calls USING brin (result_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX paid_calls_to_go_on ON public.paid_calls USING btree (created_at) WHERE (proof IS NOT NULL);

CREATE UNIQUE INDEX payout_wallets_current ON public.payout_wallets USING btree (account_id, network) WHERE (state = ANY (ARRAY['checked'::text, 'unpayable'::text]));

CREATE INDEX payout_wallets_looked_at ON public.payout_wallets USING btree (looked_at NULLS FIRST) WHERE (state = ANY (ARRAY['checked'::text, 'unpayable'::text]));

CREATE UNIQUE INDEX payout_wallets_proposed ON public.payout_wallets USING btree (account_id, network) WHERE (state = 'unchecked'::text);

CREATE INDEX postings_earned ON public.postings USING btree (to_purse, created_at) WHERE (to_purse ~~ 'earned:%'::text);

CREATE INDEX postings_into ON public.postings USING btree (to_purse, created_at) WHERE (to_purse ~~ 'spendable:%'::text);

CREATE UNIQUE INDEX postings_once ON public.postings USING btree (run_id, kind) WHERE (run_id IS NOT NULL);

CREATE INDEX postings_out_of ON public.postings USING btree (from_purse, created_at) WHERE (from_purse ~~ 'spendable:%'::text);

CREATE UNIQUE INDEX postings_resolution ON public.postings USING btree (run_id) WHERE (kind = ANY (ARRAY['capture'::text, 'release'::text]));

CREATE INDEX postings_spent ON public.postings USING btree (from_purse, created_at) WHERE (from_purse ~~ 'earned:%'::text);

CREATE INDEX reports_newest ON public.reports USING btree (created_at DESC, id);

CREATE INDEX reports_of_agent ON public.reports USING btree (agent_id);

CREATE INDEX reports_open ON public.reports USING btree (created_at DESC, id) WHERE (resolved_at IS NULL);

CREATE INDEX reservations_lapsed ON public.reservations USING btree (until);

CREATE INDEX reservations_of_pool ON public.reservations USING btree (pool);

CREATE INDEX rewards_by_agent ON public.rewards USING btree (agent_id, created_at DESC, id);

CREATE INDEX rewards_of_effect ON public.rewards USING btree (effect_key);

CREATE UNIQUE INDEX rewards_once_per_author ON public.rewards USING btree (agent_id, author_id) WHERE (state <> 'void'::text);

CREATE UNIQUE INDEX rewards_once_per_post ON public.rewards USING btree (agent_id, post_id) WHERE (state <> 'void'::text);

CREATE INDEX runs_failed_of_agent ON public.runs USING btree (agent_id, finished_at DESC) WHERE (state = ANY (ARRAY['failed'::text, 'lost'::text]));

CREATE INDEX runs_finished ON public.runs USING btree (finished_at) WHERE (state <> 'running'::text);

CREATE INDEX runs_held ON public.runs USING btree (account_id) INCLUDE (price_credits) WHERE (state = 'running'::text);

CREATE INDEX runs_leased ON public.runs USING btree (lease_until) WHERE (state = 'running'::text);

CREATE INDEX runs_not_succeeded ON public.runs USING btree (account_id, state, created_at DESC, id) WHERE ((account_id IS NOT NULL) AND (state = ANY (ARRAY['failed'::text, 'lost'::text])));

CREATE INDEX runs_of_account ON public.runs USING btree (account_id, created_at DESC, id) WHERE (account_id IS NOT NULL);

CREATE INDEX runs_of_account_agent ON public.runs USING btree (account_id, agent_id, created_at DESC, id) WHERE (account_id IS NOT NULL);

CREATE INDEX runs_of_account_key ON public.runs USING btree (account_id, COALESCE(key_id, ''::text), created_at DESC, id) WHERE (account_id IS NOT NULL);

CREATE UNIQUE INDEX runs_once ON public.runs USING btree (account_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX sign_in_identities_of_user ON public.sign_in_identities USING btree (user_id);

CREATE INDEX sign_in_links_ended ON public.sign_in_links USING btree (expires_at);

CREATE INDEX sign_in_passkeys_of_user ON public.sign_in_passkeys USING btree (user_id, created_at);

CREATE INDEX sign_in_sessions_ended ON public.sign_in_sessions USING btree (expires_at);

CREATE INDEX sign_in_sessions_of_user ON public.sign_in_sessions USING btree (user_id);

CREATE INDEX sign_in_verifications_ended ON public.sign_in_verifications USING btree (expires_at);

CREATE INDEX sign_in_verifications_of ON public.sign_in_verifications USING btree (identifier);

CREATE INDEX tool_names_of_agent ON public.tool_names USING btree (agent_id);

CREATE INDEX unsettled_results_by_age ON public.unsettled_results USING btree (day);

CREATE INDEX wallets_shown_ended ON public.wallets_shown USING btree (expires_at);

CREATE OR REPLACE FUNCTION public.claim_home_try(asking text, price bigint, client_max integer, credits_max bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
    declare
      today  date := (now() at time zone 'utc')::date;
      spent  bigint;
    begin
      insert into home_tries values ('*', today, 0, 0), (asking, today, 0, 0) on conflict do nothing;
      select credits into spent from home_tries where client = '*' and day = today for update;
      if spent + price > credits_max then return false; end if;
      update home_tries set tries = tries + 1, credits = credits + price
       where client = asking and day = today and tries < client_max;
      if not found then return false; end if;
      update home_tries set tries = tries + 1, credits = credits + price where client = '*' and day = today;
      return true;
    end $function$;

CREATE OR REPLACE FUNCTION public.claim_models(runs text[], agent_ids text[], costs bigint[], covered boolean[], usual_budget bigint, block bigint, line bigint)
 RETURNS SETOF text
 LANGUAGE plpgsql
AS $function$
    declare
      today    model_days%rowtype;
      on_day   date := (now() at time zone 'utc')::date;
      creator  text;
      budget   bigint;
      open     bigint;
      have     bigint;
      debt     bigint;
      need     bigint;
      more     bigint;
      back     bigint;
      locked   text;
    begin
      for n in 1 .. cardinality(runs) loop
        if agent_ids[n] is distinct from locked then
          locked := agent_ids[n];
          select account_id, coalesce(model_credits_per_day, usual_budget) into creator, budget
            from agents where id = locked;
          insert into model_days (agent_id, day, account_id) values (locked, on_day, creator) on conflict do nothing;
          today := lock_model_day(locked, on_day);
          select coalesce(sum(credits), 0) into open from model_claims where agent_id = locked and day = on_day;
        end if;
        need := costs[n] - (today.taken - today.spent - open);
        if covered[n] then need := need - today.lent; end if;
        if need > 0 then
          if today.taken + today.lent + need > budget then
            return next case when today.spent + costs[n] > budget then 'budget' else 'busy' end;
            continue;
          end if;
          more := least(greatest(need, block), budget - today.taken - today.lent);
          select spendable into have from balances where account_id = creator for update;
          select owed into debt from model_debts where account_id = creator for update;
          debt := coalesce(debt, 0);
          back := least(have, debt);
          if back > 0 then
            insert into postings (kind, from_purse, to_purse, amount)
              values ('repayment', 'spendable:' || creator, 'owed:' || creator, back);
            update balances set spendable = spendable - back where account_id = creator;
            update model_debts set owed = owed - back where account_id = creator;
            have := have - back;
            debt := debt - back;
          end if;
          if have >= need then
            -- Not all there is: the creator's other agents live on it too.
            more := least(more, greatest(need, have / 4));
            insert into postings (kind, from_purse, to_purse, amount)
              values ('model_reserve', 'spendable:' || creator, 'models:' || locked, more);
            update balances set spendable = spendable - more where account_id = creator;
            today.taken := today.taken + more;
          elsif covered[n] and debt + need <= greatest(line, costs[n]) then
            more := least(more, greatest(line, costs[n]) - debt);
            insert into postings (kind, from_purse, to_purse, amount)
              values ('model_reserve', 'owed:' || creator, 'models:' || locked, more);
            insert into model_debts (account_id, owed) values (creator, more)
              on conflict (account_id) do update set owed = model_debts.owed + excluded.owed;
            today.lent := today.lent + more;
          else
            return next case when open > 0 then 'busy' else 'balance' end;
            continue;
          end if;
          update model_days set taken = today.taken, lent = today.lent where agent_id = locked and day = on_day;
        end if;
        insert into model_claims (run_id, agent_id, day, credits) values (runs[n], locked, on_day, costs[n]);
        open := open + costs[n];
        update model_days set touched_at = now()
          where agent_id = locked and day = on_day and touched_at < now() - interval '1 minute';
        return next 'ok';
      end loop;
    end $function$;

CREATE OR REPLACE FUNCTION public.claim_models(runs text[], agent_ids text[], costs bigint[], covered boolean[], usual_budget bigint, block bigint, line bigint, lent_max bigint, buyers text[], addresses text[], failures_max integer)
 RETURNS SETOF text
 LANGUAGE plpgsql
AS $function$
    declare
      today    model_days%rowtype;
      on_day   date := (now() at time zone 'utc')::date;
      creator  text;
      budget   bigint;
      open     bigint;
      have     bigint;
      debt     bigint;
      need     bigint;
      more     bigint;
      back     bigint;
      locked   text;
      lending  bigint := hashtext('models lent today');
      lends    boolean := false;
      owing    bigint;
      failed   integer;
      begun    integer;
    begin
      -- Lenders take turns, and wait before they have locked anything.
      if exists (
        select from unnest(agent_ids, covered) asked (agent, pays) join agents a on a.id = asked.agent
          join balances b on b.account_id = a.account_id left join model_debts o on o.account_id = a.account_id
        where pays and b.spendable - coalesce(o.owed, 0) < (select sum(cost) from unnest(costs) cost)
      ) then
        perform pg_advisory_xact_lock(lending);
        lends := true;
      end if;
      if (select count(distinct agent) > 1 from unnest(agent_ids) agent) then
        insert into model_days (agent_id, day, account_id)
          select id, on_day, account_id from agents where id = any(agent_ids) order by id on conflict do nothing;
        perform from model_days where agent_id = any(agent_ids) and day = on_day order by agent_id for update;
        -- Of these agents some may need more than is set aside: their creators.
        perform from balances where account_id in (
          select d.account_id
            from (select agent, sum(cost) as cost from unnest(agent_ids, costs) each (agent, cost) group by agent) asked
            join model_days d on d.agent_id = asked.agent and d.day = on_day
           where asked.cost > d.taken - d.spent - (
             select coalesce(sum(credits), 0) from model_claims where agent_id = asked.agent and day = on_day)
        ) order by account_id for update;
      end if;
      for n in 1 .. cardinality(runs) loop
        if agent_ids[n] is distinct from locked then
          locked := agent_ids[n];
          select account_id, coalesce(model_credits_per_day, usual_budget) into creator, budget
            from agents where id = locked;
          insert into model_days (agent_id, day, account_id) values (locked, on_day, creator) on conflict do nothing;
          today := lock_model_day(locked, on_day);
          select coalesce(sum(credits), 0) into open from model_claims where agent_id = locked and day = on_day;
        end if;
        if failures_max > 0 and buyers[n] is not null then
          select coalesce(max(failures), 0) into failed from model_failures
            where agent_id = locked and caller in (buyers[n], addresses[n]) and since > now() - interval '1 hour';
          select count(*) into begun from model_claims
            where agent_id = locked and day = on_day and not borne and (buyer = buyers[n] or address = addresses[n]);
          if failed >= failures_max then
            return next 'failures';
            continue;
          elsif failed + begun / 8 >= failures_max then
            return next 'crowd';
            continue;
          end if;
        end if;
        if today.spent + open + costs[n] > budget then
          return next case when today.spent + costs[n] > budget then 'budget' else 'busy' end;
          continue;
        end if;
        need := costs[n] - (today.taken - today.spent - open);
        if covered[n] then need := need - today.lent; end if;
        if need > 0 then
          if today.taken + today.lent + need > budget then
            return next case when today.spent + costs[n] > budget then 'budget' else 'busy' end;
            continue;
          end if;
          more := least(greatest(need, block), budget - today.taken - today.lent);
          select spendable into have from balances where account_id = creator for update;
          select owed into debt from model_debts where account_id = creator for update;
          debt := coalesce(debt, 0);
          back := least(have, debt);
          if back > 0 then
            insert into postings (kind, from_purse, to_purse, amount)
              values ('repayment', 'spendable:' || creator, 'owed:' || creator, back);
            update balances set spendable = spendable - back where account_id = creator;
            update model_debts set owed = owed - back where account_id = creator;
            have := have - back;
            debt := debt - back;
          end if;
          if have >= need then
            -- Not all there is: the creator's other agents live on it too, and so do runs of their own.
            more := case when buyers[n] = creator then need else least(more, greatest(need, have / 4)) end;
            insert into postings (kind, from_purse, to_purse, amount)
              values ('model_reserve', 'spendable:' || creator, 'models:' || locked, more);
            update balances set spendable = spendable - more where account_id = creator;
            today.taken := today.taken + more;
          elsif covered[n] and debt + need <= greatest(line, costs[n]) then
            lends := lends or pg_try_advisory_xact_lock(lending);
            select coalesce(sum(lent), 0) into owing from model_days where day = on_day and lent > 0;
            if not lends or owing + need > lent_max then
              return next case when lends then 'balance' else 'busy' end;
              continue;
            end if;
            -- Not all there is: other creators need it too.
            more := least(more, greatest(line, costs[n]) - debt, greatest(need, (lent_max - owing) / 4));
            insert into postings (kind, from_purse, to_purse, amount)
              values ('model_reserve', 'owed:' || creator, 'models:' || locked, more);
            insert into model_debts (account_id, owed) values (creator, more)
              on conflict (account_id) do update set owed = model_debts.owed + excluded.owed;
            today.lent := today.lent + more;
          else
            return next case when open > 0 then 'busy' else 'balance' end;
            continue;
          end if;
          update model_days set taken = today.taken, lent = today.lent where agent_id = locked and day = on_day;
        end if;
        insert into model_claims (run_id, agent_id, day, credits, buyer, address)
          values (runs[n], locked, on_day, costs[n], buyers[n], addresses[n]);
        open := open + costs[n];
        update model_days set touched_at = now()
          where agent_id = locked and day = on_day and touched_at < now() - interval '1 minute';
        return next 'ok';
      end loop;
    end $function$;

CREATE OR REPLACE FUNCTION public.claim_svg_try(asking text, client_max integer, all_max integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
    declare
      today  date := (now() at time zone 'utc')::date;
      taken  integer;
    begin
      insert into svg_tries values ('*', today, 0), (asking, today, 0) on conflict do nothing;
      select tries into taken from svg_tries where client = '*' and day = today for update;
      if taken >= all_max then return false; end if;
      update svg_tries set tries = tries + 1 where client = asking and day = today and tries < client_max;
      if not found then return false; end if;
      update svg_tries set tries = tries + 1 where client = '*' and day = today;
      return true;
    end $function$;

CREATE OR REPLACE FUNCTION public.claim_try(account text, cost bigint, account_max bigint, all_max bigint)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
    declare
      on_day  date := (now() at time zone 'utc')::date;
    begin
      insert into try_days values ('*', on_day, 0), (account, on_day, 0) on conflict do nothing;
      perform from try_days where day = on_day and subject in ('*', account) order by subject for update;
      if (select spent from try_days where subject = account and day = on_day) + cost > account_max then
        return 'account';
      elsif (select spent from try_days where subject = '*' and day = on_day) + cost > all_max then
        return 'all';
      end if;
      update try_days set spent = spent + cost where day = on_day and subject in ('*', account);
      return 'ok';
    end $function$;

CREATE OR REPLACE FUNCTION public.conclude_paid_calls(networks text[], keys text[], holders uuid[], transactions text[], payers text[], handed_out timestamp with time zone[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      for n in 1 .. cardinality(keys) loop
        update paid_calls
           set transaction_id = transactions[n], payer = payers[n], delivered_at = handed_out[n], proof = null,
               holder = null, lease_until = null, updated_at = now()
         where network = networks[n] and payment_key = keys[n] and holder = holders[n];
      end loop;
    end $function$;

CREATE OR REPLACE FUNCTION public.count_calls(counted text, wanted integer, allowed integer, OUT admitted integer, OUT used integer, OUT reset_seconds integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
    declare
      stored   rate_limits%rowtype;
      elapsed  integer;
      recent   integer[];
      seen_at  bigint;
    begin
      loop
        select * into stored from rate_limits where subject = counted for update;
        exit when found;
        insert into rate_limits values (counted, 0, array_fill(0, array[60])) on conflict do nothing;
      end loop;
      seen_at := greatest(stored.second, floor(extract(epoch from clock_timestamp()))::bigint);
      elapsed := least(60, seen_at - stored.second);
      recent := array_fill(0, array[elapsed]) || stored.calls[1:60 - elapsed];
      select coalesce(sum(calls), 0) into used from unnest(recent) calls;
      admitted := greatest(0, least(wanted, allowed - used));
      used := used + admitted;
      if admitted > 0 then
        recent[1] := recent[1] + admitted;
        update rate_limits set second = seen_at, calls = recent where subject = counted;
      end if;
      select coalesce(61 - max(age), 0) into reset_seconds
        from unnest(recent) with ordinality as counted_calls(calls, age) where calls > 0;
    end $function$;

CREATE OR REPLACE FUNCTION public.count_facets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      change record;
      moved text := case tg_op
        when 'INSERT' then 'select facets, 1 as n from came'
        when 'DELETE' then 'select facets, -1 as n from went'
        else 'select facets, 1 as n from came union all select facets, -1 from went'
      end;
    begin
      -- In one order, so that two publications never wait for each other.
      for change in execute
        'select facet, sum(n) as agents from (' || moved || ') moved, unnest(facets) facet
         group by facet having sum(n) <> 0 order by facet collate "C"'
      loop
        insert into listing_facets values (change.facet, 0) on conflict do nothing;
        update listing_facets set agents = agents + change.agents where facet = change.facet;
      end loop;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.count_key_calls(account text, key text, is_only_key boolean, wanted integer, key_limit integer, ceiling integer, OUT admitted integer, OUT remaining integer, OUT reset_seconds integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
    declare
      allowed    integer := least(key_limit, ceiling);
      own        record;
      together   record;
    begin
      if is_only_key then
        select * into together from count_calls(account, wanted, allowed);
        admitted := together.admitted;
        remaining := greatest(0, allowed - together.used);
        reset_seconds := together.reset_seconds;
        return;
      end if;
      insert into rate_limits values (account, 0, array_fill(0, array[60])) on conflict do nothing;
      perform from rate_limits where subject = account for update;
      select * into own from count_calls(key, wanted, allowed);
      select * into together from count_calls(account, own.admitted, ceiling);
      admitted := together.admitted;
      remaining := greatest(0, least(allowed - own.used, ceiling - together.used));
      reset_seconds := greatest(own.reset_seconds, together.reset_seconds);
    end $function$;

CREATE OR REPLACE FUNCTION public.count_listings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      change record;
      moved text := case tg_op
        when 'INSERT' then 'select handle, connector, 1 as n from came'
        when 'DELETE' then 'select handle, connector, -1 as n from went'
        else 'select handle, connector, 1 as n from came union all select handle, connector, -1 from went'
      end;
    begin
      -- In one order, so that two publications never wait for each other.
      for change in execute
        'select creator, connector, sum(n) as agents from (' || moved || ') moved,
           lateral (values (''*''), (lower(handle))) whose (creator)
         group by creator, connector having sum(n) <> 0 order by creator, connector'
      loop
        insert into listing_counts values (change.creator, change.connector, 0) on conflict do nothing;
        update listing_counts set agents = agents + change.agents
        where creator = change.creator and connector = change.connector;
      end loop;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.count_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      change record;
      is_left boolean;
      moved text := case tg_op
        when 'INSERT' then 'select connector, search, 1 as n from came'
        when 'DELETE' then 'select connector, search, -1 as n from went'
        else 'select connector, search, 1 as n from came union all select connector, search, -1 from went'
      end;
    begin
      if tg_op <> 'INSERT' then
        delete from listing_names using went, unnest(went.search) said
        where listing_names.word = said.lexeme and listing_names.created_at = went.created_at
          and listing_names.agent_id = went.agent_id;
      end if;
      if tg_op <> 'DELETE' then
        insert into listing_names
        select said.lexeme, came.connector, came.created_at, came.agent_id from came, unnest(came.search) said
        where 'A' = any (said.weights);
      end if;
      -- In one order, so that two publications never wait for each other.
      for change in execute
        'select place, lexeme, sum(n) as agents, coalesce(sum(n) filter (where ''A'' = any (weights)), 0) as names
         from (' || moved || ') moved, unnest(search), lateral (values (''*''), (connector)) places (place)
         group by place, lexeme having sum(n) <> 0 or sum(n) filter (where ''A'' = any (weights)) <> 0
         order by lexeme collate "C", place'
      loop
        -- The row that is proposed must be one that may be, also where there is one already.
        insert into listing_words as known
          values (change.place, change.lexeme, greatest(change.agents, change.names, 0), greatest(change.names, 0))
          on conflict (connector, word) do update
            set agents = known.agents + change.agents, names = known.names + change.names
          returning known.agents > 0 into is_left;
        if not is_left then
          delete from listing_words where connector = change.place and word = change.lexeme;
          if change.place = '*' then
            delete from listing_typos using typo_shapes(change.lexeme) of_word (shape)
            where listing_typos.shape = of_word.shape and listing_typos.word = change.lexeme;
          end if;
        end if;
      end loop;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.keep_handle()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into handles (handle, account_id) values (lower(new.handle), new.id) on conflict do nothing;
      if (select account_id from handles where handle = lower(new.handle)) <> new.id then
        raise unique_violation using message = 'the handle is or was another account''s', constraint = 'accounts_handle';
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.keep_paid_results(networks text[], keys text[], holders uuid[], outputs json[], receipts json[])
 RETURNS SETOF uuid
 LANGUAGE plpgsql
AS $function$
    begin
      for n in 1 .. cardinality(keys) loop
        return query
          update paid_calls set output = outputs[n], receipt = receipts[n], updated_at = now(), result_at = now()
           where network = networks[n] and payment_key = keys[n] and holder = holders[n]
          returning holder;
      end loop;
    end $function$;

CREATE OR REPLACE FUNCTION public.keep_tool_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'UPDATE' and old.state = 'draft' then
        delete from tool_names where tool_name = old.tool_name and tool_name <> new.tool_name;
      end if;
      insert into tool_names (tool_name, agent_id) values (new.tool_name, new.id) on conflict do nothing;
      if (select agent_id from tool_names where tool_name = new.tool_name) <> new.id then
        raise unique_violation using message = 'the tool name is or was another agent''s', constraint = 'agents_tool_name_key';
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.keep_typo_shapes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into listing_typos select typo_shapes(new.word), new.word on conflict do nothing;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.list_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      -- The agents first, as whoever changes one of them takes it before the lock.
      perform from agents where account_id = new.id and state = 'live' order by id for no key update;
      perform pg_advisory_xact_lock(hashtext('listings of ' || new.id));
      -- Each is looked at again by list_agent.
      update agents set state = state where account_id = new.id and state = 'live';
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.list_agent()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

CREATE OR REPLACE FUNCTION public.list_networks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      account text := case tg_op when 'DELETE' then old.account_id else new.account_id end;
    begin
      perform pg_advisory_xact_lock(hashtext('listings of ' || account));
      update listings l set networks = now_listed.networks, per_call = now_listed.per_call, facets = now_listed.facets
      from agents a, lateral listing_of(a.id) now_listed
      where a.account_id = account and a.state = 'live' and l.agent_id = a.id
        and (l.networks, l.per_call) is distinct from (now_listed.networks, now_listed.per_call);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.listing_of(agent text)
 RETURNS TABLE(agent_id text, handle text, slug text, name text, description text, connector text, price_credits bigint, search tsvector, created_at timestamp with time zone, category text, tags text[], networks text[], per_call boolean, facets text[])
 LANGUAGE sql
 STABLE
AS $function$
      select a.id, a.handle, a.slug, v.name, v.description, v.connector, v.price_credits,
        v.search || setweight(to_tsvector('simple', translate(a.handle, '-', ' ')), 'D'), a.created_at,
        v.category, v.tags, w.networks, w.per_call,
        array['category:' || v.category] || array(select 'tag:' || tag from unnest(v.tags) tag)
          || array(select 'network:' || network from unnest(w.networks) network)
          || case when v.price_credits = 0 then array['free'] else '{}' end
          || case when w.per_call then array['per_call'] else '{}' end
      from agents a
      join agent_versions v on v.agent_id = a.id and v.version = a.live_version,
      lateral (
        select paid.networks, not v.needs_account and (v.price_credits = 0 or paid.networks <> '{}') as per_call
        from (
          select coalesce(array_agg(p.network order by p.network), '{}') as networks from payout_wallets p
          where p.account_id = a.account_id and p.state = 'checked' and v.price_credits > 0 and not v.needs_account
        ) paid
      ) w
      where a.id = agent and a.state = 'live'
    $function$;

CREATE OR REPLACE FUNCTION public.lock_model_day(agent text, on_day date)
 RETURNS model_days
 LANGUAGE plpgsql
AS $function$
    declare
      today    model_days%rowtype;
      settled  bigint;
    begin
      select * into today from model_days where agent_id = agent and day = on_day for update;
      if today.closed then return today; end if;
      with ended as (
        delete from model_claims where agent_id = agent and day = on_day
          and (borne or claimed_at < now() - interval '15 minutes')
        returning credits
      ) select coalesce(sum(credits), 0) into settled from ended;
      if settled > 0 then
        update model_days set spent = spent + settled where agent_id = agent and day = on_day returning * into today;
      end if;
      return today;
    end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception '% is append-only', tg_table_name;
    end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change_of_acts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'the audit log is append-only';
    end $function$;

CREATE OR REPLACE FUNCTION public.reserve(holder_ text, lease_ms integer, claims json)
 RETURNS TABLE(kind text, used_up boolean)
 LANGUAGE plpgsql
AS $function$
    declare
      claim record;
      room numeric;
      used numeric;
      taken numeric;
    begin
      for claim in
        select * from json_to_recordset(claims)
          as c (kind text, pool text, agent text, asset text, subject text, amount numeric, room numeric, measured_at timestamptz)
        order by c.pool
      loop
        perform pg_advisory_xact_lock(hashtextextended(claim.pool, 0));
        room := claim.room;
        used := 0;
        if claim.kind = 'day' then
          select coalesce(sum(e.amount), 0) into used from effects e
          where e.agent_id = claim.agent and e.asset = claim.asset and e.key <> holder_ and e.state <> 'void'
            and e.created_at > now() - interval '24 hours';
        elsif claim.kind = 'budget' then
          select coalesce(sum(r.amount), 0) into used from rewards r
          where r.agent_id = claim.agent and r.asset = claim.asset and r.effect_key <> holder_ and r.state <> 'void';
        elsif claim.kind = 'post' then
          select count(*) into used from rewards r
          where r.agent_id = claim.agent and r.post_id = claim.subject and r.effect_key <> holder_ and r.state <> 'void';
        elsif claim.kind = 'author' then
          select count(*) into used from rewards r
          where r.agent_id = claim.agent and r.author_id = claim.subject and r.effect_key <> holder_ and r.state <> 'void';
        elsif claim.kind = 'fees' then
          select coalesce(sum(e.fee), 0) into used from effects e
          where e.fee > 0 and e.network = claim.asset and e.created_at > now() - interval '24 hours';
        elsif claim.kind = 'fees_of' then
          select coalesce(sum(e.fee), 0) into used from effects e join agents a on a.id = e.agent_id
          where e.fee > 0 and e.network = claim.asset and e.created_at > now() - interval '24 hours' and a.account_id = claim.subject;
        elsif claim.kind = 'credits' then
          select b.spendable into room from balances b where b.account_id = claim.subject;
        end if;
        select coalesce(sum(r.amount), 0) into taken from reservations r
        where r.pool = claim.pool and r.holder <> holder_ and case
          when r.spent_at is not null then r.spent_at > claim.measured_at
          else r.until > clock_timestamp()
            or (r.on_ledger and exists (select from effects e where e.key = r.holder and e.state = 'open'))
        end;
        if used + taken + claim.amount > coalesce(room, 0) then
          return query select claim.kind, used + claim.amount > coalesce(room, 0);
          return;
        end if;
      end loop;
      insert into reservations as old (holder, pool, amount, on_ledger, until)
      select holder_, c.pool, c.amount, c.kind = 'ledger', clock_timestamp() + lease_ms * interval '1 ms'
      from json_to_recordset(claims) as c (kind text, pool text, amount numeric)
      on conflict (holder, pool) do update set amount = excluded.amount, until = excluded.until, spent_at = null;
    end $function$;

CREATE OR REPLACE FUNCTION public.return_home_try(asking text, counted_on date, price bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      update home_tries set tries = tries - 1, credits = credits - price
       where client = '*' and day = counted_on and tries > 0 and credits >= price;
      update home_tries set tries = tries - 1, credits = credits - price
       where client = asking and day = counted_on and tries > 0 and credits >= price;
    end $function$;

CREATE OR REPLACE FUNCTION public.return_svg_try(asking text, counted_on date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      update svg_tries set tries = tries - 1 where client = '*' and day = counted_on and tries > 0;
      update svg_tries set tries = tries - 1 where client = asking and day = counted_on and tries > 0;
    end $function$;

CREATE OR REPLACE FUNCTION public.settle_model_day(agent text, on_day date, closing boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    declare
      today    model_days%rowtype;
      open     bigint;
      rest     bigint;
      unlent   bigint;
      debt     bigint;
      repaid   bigint;
    begin
      perform from model_days where agent_id = agent and day = on_day and not closed for update skip locked;
      if not found then return; end if;
      today := lock_model_day(agent, on_day);
      select coalesce(sum(credits), 0) into open from model_claims where agent_id = agent and day = on_day;
      if closing and open > 0 then return; end if;
      rest := today.taken + today.lent - today.spent - open;
      unlent := least(rest, today.lent);
      perform from balances where account_id = today.account_id for update;
      select owed into debt from model_debts where account_id = today.account_id for update;
      repaid := least(unlent, coalesce(debt, 0));
      if repaid > 0 then
        insert into postings (kind, from_purse, to_purse, amount)
          values ('model_return', 'models:' || agent, 'owed:' || today.account_id, repaid);
        update model_debts set owed = owed - repaid where account_id = today.account_id;
      end if;
      if rest > repaid then
        insert into postings (kind, from_purse, to_purse, amount)
          values ('model_return', 'models:' || agent, 'spendable:' || today.account_id, rest - repaid);
        update balances set spendable = spendable + rest - repaid where account_id = today.account_id;
      end if;
      if closing and today.spent > 0 then
        insert into postings (kind, from_purse, to_purse, amount)
          values ('model_cost', 'models:' || agent, 'platform:models', today.spent);
      end if;
      update model_days set lent = lent - unlent, taken = taken - (rest - unlent), closed = closing, touched_at = now()
        where agent_id = agent and day = on_day;
    end $function$;

CREATE OR REPLACE FUNCTION public.typo_shapes(word text)
 RETURNS SETOF text
 LANGUAGE sql
 IMMUTABLE STRICT ROWS 20
AS $function$
      select distinct shape from (
        select word as base where word ~ '^[^0-9]{4,24}$'
        union
        select stem from unnest(tsvector_to_array(to_tsvector('english', word))) stem where stem ~ '^[^0-9]{4,24}$'
      ) bases, lateral (
        select base as shape
        union all
        select substr(base, 1, n - 1) || substr(base, n + 1) from generate_series(1, length(base)) n
      ) shapes
    $function$;

CREATE TRIGGER accounts_handle_kept AFTER INSERT OR UPDATE OF handle ON accounts FOR EACH ROW EXECUTE FUNCTION keep_handle();

CREATE TRIGGER accounts_listed AFTER UPDATE OF state ON accounts FOR EACH ROW WHEN ((old.state = 'suspended'::text) <> (new.state = 'suspended'::text)) EXECUTE FUNCTION list_account();

CREATE TRIGGER agents_listed AFTER INSERT OR UPDATE OF state, live_version, handle, slug ON agents FOR EACH ROW EXECUTE FUNCTION list_agent();

CREATE TRIGGER agents_tool_name_kept AFTER INSERT OR UPDATE OF tool_name ON agents FOR EACH ROW EXECUTE FUNCTION keep_tool_name();

CREATE TRIGGER listing_words_new AFTER INSERT ON listing_words FOR EACH ROW WHEN (new.connector = '*'::text) EXECUTE FUNCTION keep_typo_shapes();

CREATE TRIGGER listings_came AFTER INSERT ON listings REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_listings();

CREATE TRIGGER listings_changed AFTER UPDATE ON listings REFERENCING OLD TABLE AS went NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_listings();

CREATE TRIGGER listings_facets_came AFTER INSERT ON listings REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_facets();

CREATE TRIGGER listings_facets_changed AFTER UPDATE ON listings REFERENCING OLD TABLE AS went NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_facets();

CREATE TRIGGER listings_facets_went AFTER DELETE ON listings REFERENCING OLD TABLE AS went FOR EACH STATEMENT EXECUTE FUNCTION count_facets();

CREATE TRIGGER listings_went AFTER DELETE ON listings REFERENCING OLD TABLE AS went FOR EACH STATEMENT EXECUTE FUNCTION count_listings();

CREATE TRIGGER listings_words_came AFTER INSERT ON listings REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_words();

CREATE TRIGGER listings_words_changed AFTER UPDATE ON listings REFERENCING OLD TABLE AS went NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_words();

CREATE TRIGGER listings_words_went AFTER DELETE ON listings REFERENCING OLD TABLE AS went FOR EACH STATEMENT EXECUTE FUNCTION count_words();

CREATE TRIGGER operator_act_accounts_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON operator_act_accounts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_acts();

CREATE TRIGGER operator_acts_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON operator_acts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_acts();

CREATE TRIGGER payout_wallets_added AFTER INSERT ON payout_wallets FOR EACH ROW WHEN (new.state = 'checked'::text) EXECUTE FUNCTION list_networks();

CREATE TRIGGER payout_wallets_changed AFTER UPDATE OF state, network ON payout_wallets FOR EACH ROW WHEN ((old.state = 'checked'::text) <> (new.state = 'checked'::text)) EXECUTE FUNCTION list_networks();

CREATE TRIGGER payout_wallets_gone AFTER DELETE ON payout_wallets FOR EACH ROW WHEN (old.state = 'checked'::text) EXECUTE FUNCTION list_networks();

CREATE TRIGGER postings_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON postings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
