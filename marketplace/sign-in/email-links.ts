import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { mailboxOf } from "../accounts/users.ts";
import { type Auth, hashOf, headersOf, linkMinutes, passCookies, requireAuth } from "./auth.ts";
import type { Mailer } from "./mail.ts";

const emailsPerDay = 20;

/** Links that sign in once. */
export class EmailLinks {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  get isSetUp(): boolean {
    return this.#needs.mailer !== undefined || this.#needs.showsLinks;
  }

  /**
   * Sends a link, which leads to `next` when it has signed in; answers the link where it may be shown. Known and
   * unknown addresses are treated alike. 429 past `emailsPerDay`.
   */
  async send(request: Request, email: string, next?: string): Promise<string | undefined> {
    const { mailer, showsLinks, publicUrl } = this.#needs;
    const { api } = requireAuth(this.#needs.auth);
    if (!this.isSetUp) throw new ApiError("not_found", "There is no signing in by e-mail here.");
    let shown: string | undefined;
    const deliver = async (token: string) => {
      await this.#endOlder(email, token);
      const onward = next === undefined || next === "/" ? "" : `&next=${encodeURIComponent(next)}`;
      const link = `${publicUrl}/sign-in?token=${token}${onward}`;
      if (showsLinks) shown = link;
      else await mailer?.sendLink(email, link, linkMinutes);
    };
    if (!showsLinks) await this.#countEmail(email);
    await api.signInMagicLink({ body: { email, metadata: { deliver } }, headers: headersOf(request) });
    return shown;
  }

  /** Exchanges a link's token for a session. 401 for one that is unknown, used, too old or not the newest. */
  async open(request: Request, response: Response, token: string): Promise<void> {
    const { api } = requireAuth(this.#needs.auth);
    await this.#ensureUser(token);
    const answer = await api.magicLinkVerify({ query: { token }, headers: headersOf(request), asResponse: true });
    if (answer.status !== 200) throw ended();
    passCookies(answer, response);
  }

  /** Sends a link of another kind, or answers it where it may be shown. 429 past `emailsPerDay`. */
  async deliver(email: string, link: string, { subject, before, after }: LinkEmail): Promise<string | undefined> {
    if (this.#needs.showsLinks) return link;
    await this.#countEmail(email);
    await this.#needs.mailer?.send(email, subject, [before, link, after].join("\n\n"));
    return undefined;
  }

  /**
   * A new person who uses a link and another way to sign in at the same time must not be made a user twice: the second
   * would fail with its link used up. The holder of a valid link has proved that the address is theirs.
   */
  async #ensureUser(token: string): Promise<void> {
    const { internalAdapter } = await requireAuth(this.#needs.auth).$context;
    const pending = await internalAdapter.findVerificationValue(`magic-link:${hashOf(token)}`);
    if (!pending || pending.expiresAt < new Date()) return;
    const email = JSON.parse(pending.value).email.toLowerCase();
    const { db } = this.#needs;
    const { rows } = await db.query("select token_hash from sign_in_links where address = $1", [email]);
    if (rows[0] && rows[0].token_hash !== hashOf(token)) throw ended();
    await db.query(
      "insert into sign_in_users (id, name, email, email_verified) values ($1, '', $2, true) on conflict do nothing",
      [`usr_${randomUUID()}`, email],
    );
  }

  /** Only an address's newest link opens anything. */
  async #endOlder(email: string, token: string): Promise<void> {
    await this.#needs.db.query(
      `insert into sign_in_links (address, token_hash, expires_at) values ($1, $2, now() + $3 * interval '1 minute')
       on conflict (address) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at`,
      [email.toLowerCase(), hashOf(token), linkMinutes],
    );
  }

  async #countEmail(email: string): Promise<void> {
    const { rowCount } = await this.#needs.db.query(
      `insert into letters_sent as sent (address) values ($1)
       on conflict (address, day) do update set letters = sent.letters + 1 where sent.letters < ${emailsPerDay}`,
      [mailboxOf(email)],
    );
    if (rowCount === 1) return;
    throw new ApiError("rate_limited", "This address was sent enough links for today.", {
      headers: { "retry-after": "3600" },
    });
  }
}

function ended(): ApiError {
  return new ApiError("unauthenticated", "This link was used already, is too old, or a newer one was sent.");
}

export interface LinkEmail {
  readonly subject: string;
  /** What stands before the link, and behind it. */
  readonly before: string;
  readonly after: string;
}

interface Needs {
  readonly auth: Auth | undefined;
  readonly db: Database;
  readonly publicUrl: string;
  readonly mailer: Mailer | undefined;
  readonly showsLinks: boolean;
}
