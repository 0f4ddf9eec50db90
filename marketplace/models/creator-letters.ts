import type { Queryable } from "../../shared/postgres.ts";
import type { LiveAgent } from "../agents/find.ts";
import { noteFor, textOf } from "../agents/notices.ts";
import type { Events } from "../events.ts";
import type { AccountId, AgentId } from "../ids.ts";
import type { Mailer } from "../sign-in/mail.ts";
import type { Stop } from "./model-funds.ts";

/** Tells creators that an agent of theirs has stopped answering: a notice and a mail, once a day for each reason. */
export class CreatorLetters {
  readonly #needs: Needs;
  /** What this copy has seen told today, so that a busy agent that has stopped costs no statement a call. */
  #told: { readonly day: string; readonly keys: Set<string> } = { day: "", keys: new Set() };

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The day's letter is taken before it is written, so that no failure makes two of it. */
  async tell({ id, address, ownerId, version }: LiveAgent, reason: Stop): Promise<void> {
    if (this.#wasTold(`${id} ${reason}`)) return;
    const { db, mailer, events } = this.#needs;
    if (!(await takeLetter(db, id, reason))) return;
    events.agentStopped({ agent: address, reason });
    await noteFor(db, id, version.number, reason);
    const email = mailer && (await emailOf(db, ownerId));
    if (!email) return;
    await mailer.send(email, `${address} has stopped answering`, `Your agent ${address}:\n\n${textOf(reason)}`);
  }

  #wasTold(key: string): boolean {
    const day = new Date().toISOString().slice(0, 10);
    if (this.#told.day !== day || this.#told.keys.size > keysMax) this.#told = { day, keys: new Set() };
    if (this.#told.keys.has(key)) return true;
    this.#told.keys.add(key);
    return false;
  }
}

const keysMax = 20_000;

interface Needs {
  readonly db: Queryable;
  readonly mailer: Mailer | undefined;
  readonly events: Pick<Events, "agentStopped">;
}

async function takeLetter(db: Queryable, agentId: AgentId, reason: Stop): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into agent_letters as sent (agent_id, reason, day) values ($1, $2, (now() at time zone 'utc')::date)
     on conflict (agent_id, reason) do update set day = excluded.day where sent.day < excluded.day`,
    [agentId, reason],
  );
  return rowCount === 1;
}

async function emailOf(db: Queryable, accountId: AccountId): Promise<string | undefined> {
  const { rows } = await db.query<{ email: string }>(
    "select email from sign_in_users where account_id = $1 and email_verified order by created_at limit 1",
    [accountId],
  );
  return rows[0]?.email;
}
