import type { Database, Queryable } from "../../shared/postgres.ts";

/**
 * Recomputes everything the ledger promises, in one snapshot of a service that may be running. Throws BrokenLedgerError
 * naming the first row of every promise that does not hold.
 */
export async function proveLedger(db: Database): Promise<Proof> {
  const tx = await db.connect();
  let broken: Error | undefined;
  try {
    await tx.query("begin isolation level repeatable read read only");
    const found = await findBroken(tx);
    if (found.length > 0) throw new BrokenLedgerError(found);
    const { rows } = await tx.query<Omit<Proof, "promises">>(summary);
    return { promises: Object.keys(promises), ...rows[0]! };
  } finally {
    await tx.query("rollback").catch((failure: Error) => {
      broken = failure;
    });
    tx.release(broken);
  }
}

/** Every promise that does not hold, with the first row that breaks it. */
export async function findBroken(tx: Queryable): Promise<string[]> {
  const broken: string[] = [];
  for (const [promise, rowsBreakingIt] of Object.entries(promises)) {
    const { rows } = await tx.query(`with ${ledgerAccounts} select * from (${rowsBreakingIt}) broken limit 1`);
    if (rows[0]) broken.push(`${promise}: ${JSON.stringify(rows[0], plain)}`);
  }
  return broken;
}

export interface Proof {
  /** What was found to hold. */
  readonly promises: readonly string[];
  readonly postings: bigint;
  readonly accounts: bigint;
  readonly issued: bigint;
  readonly spendable: bigint;
  readonly held: bigint;
  readonly earned: bigint;
  readonly fees: bigint;
  /** Credits set aside from creators' balances for calls of models; then the cost of models so far; then the platform's loans for them. */
  readonly set_aside_for_models: bigint;
  readonly models: bigint;
  readonly owed: bigint;
}

export class BrokenLedgerError extends Error {
  override readonly name = "BrokenLedgerError";
  readonly broken: readonly string[];

  constructor(broken: readonly string[]) {
    super(`the ledger does not add up:\n${broken.map((line) => `  - ${line}`).join("\n")}`);
    this.broken = broken;
  }
}

const ledgerAccounts = `ledger_accounts as (
  select ledger_account, sum(amount) as amount from (
    select to_purse as ledger_account, amount from postings union all select from_purse, -amount from postings
  ) legs group by ledger_account
)`;

/** Each promise, and the rows that break it, the first first. */
const promises: Readonly<Record<string, string>> = {
  "a balance is the sum of its account's spendable postings": `
    select account_id, b.spendable as balance, coalesce(p.amount, 0) as posted
    from balances b
    full join (select substr(ledger_account, 11) as account_id, amount from ledger_accounts where ledger_account like 'spendable:%') p
      using (account_id)
    where b.spendable is distinct from coalesce(p.amount, 0)
    order by account_id`,

  "no ledger account but the platform's own source is below zero, save for what is owed": `
    select ledger_account, amount from ledger_accounts where ledger_account <> 'platform:issued'
      and case when ledger_account like 'owed:%' then amount > 0 else amount < 0 end
    order by ledger_account`,

  "ledger accounts belong to accounts, runs or the platform": `
    select p.id as posting, ledger_account from postings p, lateral (values (from_purse), (to_purse)) ends (ledger_account)
    where ledger_account not in ('platform:issued', 'platform:fees', 'platform:models') and ledger_account not like 'held:run\\_%'
      and not exists (
        select from accounts a where ledger_account in ('spendable:' || a.id, 'earned:' || a.id, 'owed:' || a.id)
          and a.id = substr(ledger_account, strpos(ledger_account, ':') + 1))
      and not exists (select from agents a where ledger_account = 'models:' || a.id and a.id = substr(ledger_account, 8))
    order by p.id`,

  "what is held is the price of runs that are running": `
    select run_id, coalesce(p.amount, 0) as held, coalesce(r.price_credits, 0) as price
    from (select substr(ledger_account, 6) as run_id, amount from ledger_accounts where ledger_account like 'held:%') p
    full join (
      select id as run_id, price_credits from runs where rail = 'credits' and state = 'running'
    ) r using (run_id)
    where coalesce(p.amount, 0) <> coalesce(r.price_credits, 0)
    order by run_id`,

  "a run moves its price, between the ledger accounts of its own buyer": `
    select p.id as posting, p.kind, p.amount, r.id as run_id, r.price_credits as price, r.account_id
    from postings p join runs r on r.id = p.run_id
    where p.kind in ('hold', 'release') and (p.amount <> r.price_credits
      or case p.kind when 'hold' then p.from_purse else p.to_purse end is distinct from 'spendable:' || r.account_id)
    order by p.id`,

  "a run ends once: paid for when it succeeded, given back when it did not": `
    select r.id as run_id, r.state, r.price_credits as price, posted.kinds, posted.paid
    from runs r cross join lateral (
      select coalesce(array_agg(kind order by kind) filter (where kind in ('hold', 'release')), '{}') as kinds,
        coalesce(sum(amount) filter (where kind in ('capture', 'fee', 'model_cost')), 0) as paid
      from postings where run_id = r.id
    ) posted
    where (posted.kinds, posted.paid) is distinct from (
      case when r.rail <> 'credits' or r.price_credits = 0 then '{}'::text[]
        when r.state in ('running', 'succeeded') then array['hold']
        else array['hold', 'release'] end,
      case when r.rail = 'credits' and r.state = 'succeeded' then r.price_credits else 0 end::numeric)
    order by r.id`,

  "what is set aside for an agent's models is what its open days say": `
    select agent_id, coalesce(p.amount, 0) as set_aside, coalesce(d.amount, 0) as days
    from (select substr(ledger_account, 8) as agent_id, amount from ledger_accounts where ledger_account like 'models:%') p
    full join (select agent_id, sum(taken + lent) as amount from model_days where not closed group by agent_id) d
      using (agent_id)
    where coalesce(p.amount, 0) <> coalesce(d.amount, 0)
    order by agent_id`,

  "what models cost in a day, borne or under way, is set aside for it": `
    select agent_id, day, d.taken, d.lent, d.spent, sum(c.credits) as claimed
    from model_days d full join model_claims c using (agent_id, day)
    group by agent_id, day, d.taken, d.lent, d.spent, d.closed
    having d.taken is null or d.spent + coalesce(sum(c.credits), 0) > d.taken + d.lent or (d.closed and count(c) > 0)
    order by agent_id, day`,

  "what an account owes for models was lent to it and not paid back": `
    select account_id, coalesce(d.owed, 0) as owed, -coalesce(p.amount, 0) as lent
    from model_debts d
    full join (select substr(ledger_account, 6) as account_id, amount from ledger_accounts where ledger_account like 'owed:%') p using (account_id)
    where coalesce(d.owed, 0) <> -coalesce(p.amount, 0)
    order by account_id`,

  "a folded total is the sum of the postings before its line": `
    select t.purse, t.total, t.through, coalesce(sum(case when p.to_purse = t.purse then p.amount else -p.amount end), 0)
      as posted
    from purse_totals t
    left join postings p on t.purse in (p.to_purse, p.from_purse) and p.created_at < t.through
    group by t.purse, t.total, t.through
    having t.total <> coalesce(sum(case when p.to_purse = t.purse then p.amount else -p.amount end), 0)
    order by t.purse`,

  "the newest mark of a statement is the sum of the postings before it": `
    select account_id, kind, m.spendable, m.earned, added.spendable as posted, added.earned as posted_as_earned
    from (
      select m.* from statement_marks m join (select account_id, max(through) as through from statement_marks group by account_id) newest
        using (account_id, through)
    ) m full join (
      select account_id, kind, coalesce(sum(leg.amount) filter (where name = 'spendable'), 0) as spendable,
        coalesce(sum(leg.amount) filter (where name = 'earned'), 0) as earned
      from (
        select account_id, max(through) as through, name, name || ':' || account_id as purse
        from statement_marks cross join (values ('spendable'), ('earned')) names (name) group by account_id, name
      ) marked join (
        select kind, created_at, to_purse as purse, amount from postings
        union all select kind, created_at, from_purse, -amount from postings
      ) leg using (purse)
      where leg.created_at < through group by account_id, kind
    ) added using (account_id, kind)
    where (m.spendable, m.earned) is distinct from (added.spendable, added.earned)
    order by account_id, kind`,

  "what a capped key has spent today is the price of its runs that run or succeeded": `
    select d.key_id, d.day, d.spent, sum(coalesce(r.price_credits, 0)) as price
    from key_days d
    join api_keys k on k.id = d.key_id and (k.caps_changed_at is null or (k.caps_changed_at at time zone 'utc')::date < d.day)
    left join runs r on r.key_id = d.key_id and r.rail = 'credits' and r.state in ('running', 'succeeded')
      and (r.created_at at time zone 'utc')::date = d.day
    where d.day >= (now() at time zone 'utc')::date - 1
    group by d.key_id, d.day, d.spent
    having d.spent <> sum(coalesce(r.price_credits, 0))
    order by d.key_id, d.day`,
};

const summary = `with ${ledgerAccounts}
  select (select count(*) from postings) as postings, (select count(*) from accounts) as accounts,
    -coalesce(sum(amount) filter (where ledger_account = 'platform:issued'), 0) as issued,
    coalesce(sum(amount) filter (where ledger_account like 'spendable:%'), 0) as spendable,
    coalesce(sum(amount) filter (where ledger_account like 'held:%'), 0) as held,
    coalesce(sum(amount) filter (where ledger_account like 'earned:%'), 0) as earned,
    coalesce(sum(amount) filter (where ledger_account = 'platform:fees'), 0) as fees,
    coalesce(sum(amount) filter (where ledger_account like 'models:%'), 0) as set_aside_for_models,
    coalesce(sum(amount) filter (where ledger_account = 'platform:models'), 0) as models,
    -coalesce(sum(amount) filter (where ledger_account like 'owed:%'), 0) as owed
  from ledger_accounts`;

const plain = (_name: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);
