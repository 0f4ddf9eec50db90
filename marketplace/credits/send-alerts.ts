import { figures } from "../../shared/page/figures.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { emailOf } from "../account-email.ts";
import type { AccountId, KeyId } from "../ids.ts";
import type { Mailer } from "../sign-in/mail.ts";
import { type AlertKind, alertNames } from "./alert-kinds.ts";

/** E-mails of one kind that a copy of the service sends in one go. */
const emailsMax = 50;
/** A balance that goes up and down about its mark writes no more often. As PostgreSQL reads it. */
const balanceToldEvery = "1 hour";
/**
 * SQL: the order in which alerts `a` are claimed. Those of a mailbox that refused one today come last, so that they keep none waiting; alerts
 * that are set anew forget that, so chance decides among the others.
 */
const refusedLast = "case when a.refused_at > now() - interval '1 day' then a.refused_at end nulls first, random()";

/**
 * Tells by e-mail which balances fell below their marks and which keys have spent much of their caps. Runs now and then, beside all
 * calls. Copies share the work: each e-mail is claimed before it is sent, and given back when the mail server does not take it.
 */
export async function sendAlerts({ db, mailer, publicUrl }: Needs): Promise<void> {
  if (!mailer) return;
  await db.query(
    `update credit_alerts a set is_below = false from balances b
     where b.account_id = a.account_id and a.is_below and b.spendable >= a.balance_below`,
  );
  const due: Due[] = [];
  for (const kind of alertNames) due.push(...(await claimed[kind]({ db, publicUrl })));
  const failures: unknown[] = [];
  for (const { accountId, mail, giveBack } of due) {
    try {
      const email = await emailOf(db, accountId);
      if (email) await mailer.send(email, mail.subject, mail.text);
    } catch (error) {
      failures.push(error);
      await giveBack();
      await db.query("update credit_alerts set refused_at = now() where account_id = $1", [accountId]);
    }
  }
  if (failures.length > 0) throw failures[0];
}

interface Needs extends ClaimNeeds {
  readonly mailer: Mailer | undefined;
}

interface ClaimNeeds {
  readonly db: Queryable;
  readonly publicUrl: string;
}

/** An e-mail that was claimed, and how its claim is given back. */
interface Due {
  readonly accountId: AccountId;
  readonly mail: Email;
  readonly giveBack: () => Promise<unknown>;
}

/** Claims what is to be told, by kind. */
const claimed: Readonly<Record<AlertKind, (needs: ClaimNeeds) => Promise<Due[]>>> = {
  balance_below: async ({ db, publicUrl }) =>
    (await claimFallen(db)).map((fallen) => ({
      accountId: fallen.account_id,
      mail: emailOfBalance(fallen, publicUrl),
      giveBack: () => giveBackFallen(db, fallen),
    })),
  cap_percent: async ({ db, publicUrl }) =>
    (await claimSpent(db)).map((spent) => ({
      accountId: spent.account_id,
      mail: emailOfCap(spent, publicUrl),
      giveBack: () => giveBackSpent(db, spent),
    })),
};

interface Fallen {
  readonly account_id: AccountId;
  readonly handle: string;
  readonly spendable: bigint;
  readonly balance_below: bigint;
  readonly told_at: Date;
  readonly told_before: Date | null;
}

/** Whatever another copy claimed in the meantime is below already. Milliseconds, so that a claim is found again by its time. */
async function claimFallen(db: Queryable): Promise<Fallen[]> {
  const { rows } = await db.query<Fallen>(
    `update credit_alerts a set is_below = true, told_at = date_trunc('milliseconds', now())
     from (
       select a.account_id, handle, spendable, told_at as told_before
       from credit_alerts a join balances using (account_id) join accounts on accounts.id = a.account_id
       where not is_below and spendable < balance_below and state = 'open'
         and (told_at is null or told_at < now() - interval '${balanceToldEvery}')
       order by ${refusedLast} limit ${emailsMax} for update of a skip locked
     ) due
     where a.account_id = due.account_id
     returning a.account_id, a.balance_below, a.told_at, due.handle, due.spendable, due.told_before`,
  );
  return rows;
}

interface Spent {
  readonly account_id: AccountId;
  readonly key_id: KeyId;
  /** Which of the key's caps, and `day`: when its time began. */
  readonly per: "day" | "month";
  readonly day: string;
  readonly handle: string;
  readonly name: string;
  readonly spent: bigint;
  readonly cap: bigint;
}

/** Compares with the key's caps as they are now: the cap kept with a day may be what was left of the month's. */
async function claimSpent(db: Queryable): Promise<Spent[]> {
  const { rows } = await db.query<Spent>(
    `with used as (
       select k.account_id, k.id as key_id, handle, k.name, a.cap_percent, a.refused_at, caps.per, caps.began as day, caps.cap, (
         select coalesce(sum(d.spent), 0)::bigint from key_days d
         where d.key_id = k.id and d.day between caps.began and today
       ) as spent
       from credit_alerts a join api_keys k using (account_id) join accounts on accounts.id = a.account_id
       cross join lateral (select (now() at time zone 'utc')::date as today) t
       cross join lateral (values
         ('day', today, k.max_credits_per_day), ('month', date_trunc('month', today)::date, k.max_credits_per_month)
       ) caps (per, began, cap)
       where a.cap_percent is not null and caps.cap > 0 and k.revoked_at is null and state = 'open'
         and not exists (
           select from cap_alerts told where told.key_id = k.id and told.per = caps.per and told.day = caps.began)
     ), due as (
       select a.* from used a where spent * 100 >= cap * cap_percent order by ${refusedLast} limit ${emailsMax}
     ), claimed as (
       insert into cap_alerts (key_id, per, day) select key_id, per, day from due on conflict do nothing
       returning key_id, per
     )
     select account_id, key_id, per, day::text as day, handle, name, spent, cap from due join claimed using (key_id, per)`,
  );
  return rows;
}

function giveBackFallen(db: Queryable, { account_id: id, told_at: at, told_before: before }: Fallen) {
  return db.query("update credit_alerts set is_below = false, told_at = $2 where account_id = $1 and told_at = $3", [
    id,
    before,
    at,
  ]);
}

function giveBackSpent(db: Queryable, { key_id: id, per, day }: Spent) {
  return db.query("delete from cap_alerts where key_id = $1 and per = $2 and day = $3::date", [id, per, day]);
}

interface Email {
  readonly subject: string;
  readonly text: string;
}

function emailOfBalance({ handle, spendable, balance_below: below }: Fallen, publicUrl: string): Email {
  const text = [
    `The balance of ${handle} fell below ${figures(below)} credits: ${figures(spendable)} are left.`,
    "Runs that cost more are refused, and nothing is charged for them.",
    `Buy credits or change this alert: ${publicUrl}/settings/credits`,
  ];
  return { subject: `${handle}: ${figures(spendable)} credits left`, text: text.join("\n\n") };
}

function emailOfCap({ handle, name, per, spent, cap }: Spent, publicUrl: string): Email {
  const shown = oneLine(name);
  const [when, until] = per === "day" ? ["today", "midnight UTC"] : ["this month", "the next month begins, in UTC"];
  const text = [
    `The key "${shown}" of ${handle} has spent ${figures(spent)} of its ${figures(cap)} credits for ${when} (UTC).`,
    `At its cap its runs are refused until ${until}, and nothing is charged for them.`,
    `Change the cap: ${publicUrl}/settings/keys. Change this alert: ${publicUrl}/settings/credits`,
  ];
  return { subject: `${handle}: ${figures((spent * 100n) / cap)} % of a key's cap spent`, text: text.join("\n\n") };
}

/** A key's name is its holder's text: no line of the e-mail begins with it. */
const oneLine = (name: string) => name.replaceAll(/\s+/g, " ");
