import type { Queryable } from "../../shared/postgres.ts";
import { readStatement, statementQuery } from "../credits/statement.ts";
import type { AccountId } from "../ids.ts";
import { microsOf, readQuery } from "../query.ts";
import type { Account } from "./create.ts";

/** Of what can be large, few: a run has up to 4 MB of output, a draft or a version of an agent 250 KB. */
const rowsPerRead = { keys: 200, wallets: 200, agents: 200, agent_versions: 8, drafts: 8, runs: 2 };
/** Rows of one list; a longer list says at its end that it was cut. */
const rowsMax = 100_000;

/**
 * All that is kept of an account, as one JSON document in pieces, so that none of it has to fit into memory: keys without secrets,
 * wallets, agents, all their versions and drafts (creators' secrets left out), runs with input and output as long as they are kept, and
 * every posting.
 */
export async function* exportAccount(
  db: Queryable,
  { id, handle }: Account,
  email: string | null,
): AsyncGenerator<string> {
  yield `{"made_at":${JSON.stringify(new Date())},"account":${JSON.stringify({ id, handle, email })}`;
  for (const name of Object.keys(lists) as Array<keyof typeof lists>) {
    yield `,\n"${name}":[`;
    let after = "";
    let rows = 0;
    for (;;) {
      const page = await db.query<{ at: string; row: string }>(`${lists[name]} limit ${rowsPerRead[name]}`, [
        id,
        after,
      ]);
      for (const { row } of page.rows) {
        yield `${rows === 0 ? "\n" : ",\n"}${row}`;
        rows += 1;
      }
      after = page.rows.at(-1)?.at ?? after;
      if (page.rows.length < rowsPerRead[name] || rows >= rowsMax) break;
    }
    yield rows >= rowsMax ? `],"${name}_are_cut_at":${rowsMax}` : "]";
  }
  yield ',\n"statement":[';
  yield* statementOf(db, id);
  yield "}\n";
}

async function* statementOf(db: Queryable, id: AccountId): AsyncGenerator<string> {
  let cursor: string | null | undefined;
  for (let read = 0; read < rowsMax && cursor !== null; ) {
    const asked = readQuery(statementQuery, { limit: "100", ...(cursor && { cursor }) });
    const page = await readStatement(db, id, asked);
    for (const entry of page.postings) {
      yield `${read === 0 ? "\n" : ",\n"}${JSON.stringify(entry)}`;
      read += 1;
    }
    cursor = page.cursor;
  }
  yield cursor ? `],"statement_are_cut_at":${rowsMax}` : "]";
}

const micros = microsOf("r.created_at");

/**
 * Each in the order of `at`, from after $2. Ids begin with the time they were made at; runs are read newest first, as their index
 * has them.
 */
const lists = {
  keys: `
    select id as at, json_build_object('id', id, 'name', name, 'start', start, 'last4', last4, 'scope', scope,
      'tools', tools, 'client', client, 'rate_limit_per_minute', rate_limit_per_minute, 'max_credits_per_day', max_credits_per_day,
      'max_credits_per_month', max_credits_per_month, 'created_at', created_at, 'last_used_at', last_used_at,
      'last_used_from', last_used_from, 'last_used_by', last_used_by, 'revoked_at', revoked_at)::text as row
    from api_keys where account_id = $1 and id > $2 order by id`,
  wallets: `
    select id as at, json_build_object('id', id, 'network', network, 'address', address, 'state', state,
      'checked_at', checked_at, 'created_at', created_at)::text as row
    from payout_wallets where account_id = $1 and id > $2 order by id`,
  agents: `
    select id as at, json_build_object('id', id, 'agent', handle || '/' || slug, 'state', state,
      'live_version', live_version, 'created_at', created_at)::text as row
    from agents where account_id = $1 and id > $2 order by id`,
  agent_versions: `
    select a.id || lpad(v.version::text, 9, '0') as at, json_build_object('agent', a.handle || '/' || a.slug, 'version', v.version,
      'name', v.name, 'connector', v.connector, 'description', v.description, 'category', v.category, 'tags', v.tags,
      'price_credits', v.price_credits, 'fields', v.fields, 'settings', v.settings, 'published_at', v.published_at)::text as row
    from agents a join agent_versions v on v.agent_id = a.id
    where a.account_id = $1 and (a.id, v.version) > (left($2, -9), coalesce(nullif(right($2, 9), ''), '0')::integer)
    order by a.id, v.version`,
  drafts: `
    select slug as at, json_build_object('slug', slug, 'definition', definition, 'saved_at', saved_at)::text as row
    from agent_drafts where account_id = $1 and slug > $2 order by slug`,
  runs: `
    select ${micros} || '.' || r.id as at, json_build_object('run_id', r.id, 'agent', a.handle || '/' || a.slug, 'key_id', r.key_id,
      'state', r.state, 'price_credits', r.price_credits, 'input', r.input, 'output', r.output, 'receipt', r.receipt,
      'error', r.error, 'created_at', r.created_at, 'finished_at', r.finished_at)::text as row
    from runs r join agents a on a.id = r.agent_id
    where r.account_id = $1
      and r.created_at <= coalesce(
        timestamptz 'epoch' + nullif(split_part($2, '.', 1), '')::bigint * interval '1 microsecond', 'infinity')
      and (${micros}::text <> split_part($2, '.', 1) or r.id > split_part($2, '.', 2))
    order by r.created_at desc, r.id`,
} as const;
