import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { type Auth, hashOf, headersOf, linkMinutes, passCookies, requireAuth } from "./auth.ts";
import { countLink, knownBrowser, uncountLink } from "./count-links.ts";
import type { KnownBrowsers } from "./known-browsers.ts";
import { isSurelyUnsent, type Mailer } from "./mail.ts";

/** Links that sign in once. */
export class EmailLinks {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  get isSetUp(): boolean {
    return this.#needs.mailer !== undefined || this.#needs.showsLinks;
  }

  /** Against whom a link to that address is counted. */
  askerOf(request: Request, email: string): string {
    return this.#needs.knownBrowsers?.knows(request, email) ? knownBrowser : clientOf(request.ip ?? "unknown");
  }

  /**
   * Sends a link, which leads to `next` when it has signed in; answers the link where it may be shown. Known and
   * unknown addresses are treated alike. 429 for too many in a day.
   */
  async send(request: Request, email: string, next?: string): Promise<string | undefined> {
    const { mailer, showsLinks, publicUrl } = this.#needs;
    const { api } = requireAuth(this.#needs.auth);
    if (!this.isSetUp) throw new ApiError("not_found", "There is no signing in by e-mail here.");
    let shown: string | undefined;
    const asker = this.askerOf(request, email);
    const deliver = async (token: string) => {
      await this.#endOlder(email, asker, token);
      const onward = next === undefined || next === "/" ? "" : `&next=${encodeURIComponent(next)}`;
      const link = `${publicUrl}/sign-in?token=${token}${onward}`;
      if (showsLinks) shown = link;
      else await mailer?.sendLink(email, link, linkMinutes);
    };
    const asked = { body: { email, metadata: { deliver } }, headers: headersOf(request) };
    await this.#counted({ email, asker }, () => api.signInMagicLink(asked));
    return shown;
  }

  /**
   * The address that a link's token signs in with; undefined for one that opens nothing. It is told to the mailbox's reader, who has the
   * token, which is not used up.
   */
  async addressOf(token: string): Promise<string | undefined> {
    const { auth, db } = this.#needs;
    const email = auth && (await addressOfPending(await auth.$context, token));
    return email !== undefined && (await isNewest(db, email, token)) ? email : undefined;
  }

  /** Exchanges a link's token for a session. 401 for one that is unknown, used, too old or not its asker's newest. */
  async open(request: Request, response: Response, token: string): Promise<void> {
    const { api } = requireAuth(this.#needs.auth);
    const email = await this.#ensureUser(token);
    const answer = await api.magicLinkVerify({ query: { token }, headers: headersOf(request), asResponse: true });
    if (answer.status !== 200) throw linkEnded();
    passCookies(answer, response);
    if (email) this.#needs.knownBrowsers?.remember(response, email);
  }

  /**
   * Keeps what a link of another kind stands for and sends it, or answers it where it may be shown. 429 for too many in a day: then it is
   * not kept either.
   */
  async deliver(
    to: Addressee,
    { link, subject, before, after }: LinkEmail,
    keep: () => Promise<unknown>,
  ): Promise<string | undefined> {
    await this.#counted(to, async () => {
      await keep();
      if (!this.#needs.showsLinks)
        await this.#needs.mailer?.send(to.email, subject, [before, link, after].join("\n\n"));
    });
    return this.#needs.showsLinks ? link : undefined;
  }

  /** Counts an e-mail before it is sent; one that no mail server took is none of the day's. */
  async #counted({ email, asker }: Addressee, send: () => Promise<unknown>): Promise<void> {
    const { db, showsLinks } = this.#needs;
    if (!showsLinks) await countLink(db, email, asker);
    try {
      await send();
    } catch (error) {
      if (!showsLinks && isSurelyUnsent(error)) await uncountLink(db, email, asker);
      throw error;
    }
  }

  /**
   * A new person who uses a link and another way to sign in at the same time must not be made a user twice: the second
   * would fail with its link used up. The holder of a valid link has proved that the address is theirs: it is answered.
   */
  async #ensureUser(token: string): Promise<string | undefined> {
    const email = await addressOfPending(await requireAuth(this.#needs.auth).$context, token);
    if (email === undefined) return undefined;
    const { db } = this.#needs;
    if (!(await isNewest(db, email, token))) throw linkEnded();
    await db.query(
      "insert into sign_in_users (id, name, email, email_verified) values ($1, '', $2, true) on conflict do nothing",
      [`usr_${randomUUID()}`, email],
    );
    return email;
  }

  /** Of the links that one asker had sent to an address only the newest opens anything; a stranger ends nobody else's. */
  async #endOlder(email: string, asker: string, token: string): Promise<void> {
    await this.#needs.db.query(
      `insert into newest_links (address, asker, token_hash, expires_at) values ($1, $2, $3, now() + $4 * interval '1 minute')
       on conflict (address, asker) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at`,
      [email.toLowerCase(), asker, hashOf(token), linkMinutes],
    );
  }
}

/** Of an address's links, those of one asker end at the next. Without any row the link was sent by the version before. */
async function isNewest(db: Database, email: string, token: string): Promise<boolean> {
  const { rows } = await db.query("select token_hash from newest_links where address = $1", [email]);
  return rows.length === 0 || rows.some(({ token_hash }) => token_hash === hashOf(token));
}

async function addressOfPending(
  { internalAdapter }: Awaited<Auth["$context"]>,
  token: string,
): Promise<string | undefined> {
  const pending = await internalAdapter.findVerificationValue(`magic-link:${hashOf(token)}`);
  if (!pending || pending.expiresAt < new Date()) return undefined;
  return JSON.parse(pending.value).email.toLowerCase();
}

/** 401 for a link that opens nothing. */
export function linkEnded(): ApiError {
  return new ApiError("unauthenticated", "This link was used already, is too old, or a newer one was sent.");
}

export interface Addressee {
  readonly email: string;
  /** Against whom its link is counted. */
  readonly asker: string;
}

export interface LinkEmail {
  readonly link: string;
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
  /** Undefined where nobody signs in. */
  readonly knownBrowsers: KnownBrowsers | undefined;
  readonly showsLinks: boolean;
}
