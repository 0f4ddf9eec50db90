import type { Queryable } from "../../shared/postgres.ts";
import { emailOf } from "../account-email.ts";
import type { Events } from "../events.ts";
import type { AgentId } from "../ids.ts";
import type { Stop } from "../models/model-funds.ts";
import type { ModelUser } from "../models/version-model.ts";
import type { Mailer } from "../sign-in/mail.ts";
import { noteFor, textOf } from "./notices.ts";

/** Tells creators that an agent of theirs has stopped answering: a notice and an e-mail, once a day for each reason. */
export class CreatorEmails {
  readonly #needs: Needs;
  /** What this copy has sent or found sent today, so that a stopped agent that is called often costs no statement a call. */
  #sentToday: { readonly day: string; readonly keys: Set<string> } = { day: "", keys: new Set() };

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The day's e-mail is claimed before it is sent, so that no failure sends two. */
  async send({ id, address, ownerId, version }: ModelUser, reason: Stop): Promise<void> {
    if (this.#wasSent(`${id} ${reason}`)) return;
    const { db, mailer, events } = this.#needs;
    if (!(await claimToday(db, id, reason))) return;
    events.agentStopped({ agent: address, reason });
    await noteFor(db, id, version, reason);
    const email = mailer && (await emailOf(db, ownerId));
    if (!email) return;
    await mailer.send(email, `${address} has stopped answering`, `Your agent ${address}:\n\n${textOf(reason)}`);
  }

  #wasSent(key: string): boolean {
    const day = new Date().toISOString().slice(0, 10);
    if (this.#sentToday.day !== day || this.#sentToday.keys.size > keysMax) this.#sentToday = { day, keys: new Set() };
    if (this.#sentToday.keys.has(key)) return true;
    this.#sentToday.keys.add(key);
    return false;
  }
}

const keysMax = 20_000;

interface Needs {
  readonly db: Queryable;
  readonly mailer: Mailer | undefined;
  readonly events: Pick<Events, "agentStopped">;
}

async function claimToday(db: Queryable, agentId: AgentId, reason: Stop): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into agent_letters as sent (agent_id, reason, day) values ($1, $2, (now() at time zone 'utc')::date)
     on conflict (agent_id, reason) do update set day = excluded.day where sent.day < excluded.day`,
    [agentId, reason],
  );
  return rowCount === 1;
}
