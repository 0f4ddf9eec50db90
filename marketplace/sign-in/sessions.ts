import type { Request, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Wallet } from "../wallet.ts";
import { type Auth, headersOf, passCookies, requireAuth } from "./auth.ts";

/** Reads and ends the sessions of people who are signed in. */
export class Sessions {
  readonly #auth: Auth | undefined;
  readonly #db: Database;

  constructor(auth: Auth | undefined, db: Database) {
    this.#auth = auth;
    this.#db = db;
  }

  /** The session of a request; undefined when there is none. One in use is prolonged. 503 when it cannot be looked up. */
  async read(request: Request, response: Response): Promise<Session | undefined> {
    if (!request.headers.cookie) return undefined;
    const { api } = requireAuth(this.#auth);
    const asked = api.getSession({ headers: headersOf(request), returnHeaders: true });
    const { headers, response: found } = await asked.catch((cause: unknown) => {
      throw new ApiError("unavailable", "Sessions cannot be looked up right now; try again shortly.", { cause });
    });
    if (!found) return undefined;
    passCookies({ headers }, response);
    const { id, emailVerified, email, walletNetwork, walletAddress } = found.user;
    const wallet = walletNetwork && walletAddress ? { network: walletNetwork, address: walletAddress } : undefined;
    return { id: found.session.id, userId: id, wallet, email: wallet || !emailVerified ? undefined : email };
  }

  /** Ends this session, or all of the person's. */
  async close(request: Request, response: Response, session: Session, everywhere: boolean): Promise<void> {
    const { api } = requireAuth(this.#auth);
    if (everywhere) await this.#db.query("delete from sign_in_sessions where user_id = $1", [session.userId]);
    passCookies(await api.signOut({ headers: headersOf(request), asResponse: true }), response);
  }
}

export interface Session {
  readonly id: string;
  readonly userId: string;
  /** The wallet of a person who signed in with it alone. */
  readonly wallet: Wallet | undefined;
  /** Shown to be theirs; undefined otherwise. */
  readonly email: string | undefined;
}
