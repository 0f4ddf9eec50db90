import type { RequestHandler, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Account } from "../accounts/create.ts";
import { accountOfUser } from "../accounts/users.ts";
import type { Context } from "../context.ts";
import { ownPagesOnly } from "../own-pages.ts";
import { admitOrRefuse } from "../rate-limit.ts";
import type { Session } from "./sessions.ts";

const callsPerMinute = 300;
/** Whatever an account keeps grows no faster. */
const changesPerMinute = 60;

/**
 * Lets a request through that carries a session, and comes from no foreign page: the cookie alone would make a browser
 * do what another site wants. 401 without a session, 403 from elsewhere, 429 past the limit.
 */
export function requireSession(context: Context): RequestHandler[] {
  return [
    ownPagesOnly(context),
    async (request, response, next) => {
      const session = await context.signIn.sessions.read(request, response);
      if (!session) {
        throw new ApiError("unauthenticated", "Sign in first; GET /sign-in shows how.", {
          headers: { "www-authenticate": 'Session realm="marketplace"' },
        });
      }
      await admitOrRefuse(context.db, `session:${session.userId}`, callsPerMinute);
      response.locals.session = session;
      next();
    },
  ];
}

/** The same, for what only the holder of an open account can do: 403 for everybody else. */
export function requireAccount(context: Context): RequestHandler[] {
  return [
    ...requireSession(context),
    async (request, response, next) => {
      const session = sessionOf(response);
      const account = await accountOfUser(context.db, session.userId);
      if (!account) throw new ApiError("forbidden", reasonFor(session));
      if (account.state !== "open")
        throw new ApiError("forbidden", `The account "${account.handle}" is ${account.state}.`);
      if (request.method !== "GET") await admitOrRefuse(context.db, `changes:${account.id}`, changesPerMinute);
      response.locals.account = account;
      next();
    },
  ];
}

/** Who `requireSession` let through. */
export function sessionOf(response: Response): Session {
  return response.locals.session as Session;
}

/** The account `requireAccount` let through. */
export function accountOf(response: Response): Account {
  return response.locals.account as Account;
}

function reasonFor({ wallet }: Session): string {
  if (wallet) return "A session signed in with a wallet has no account. Sign in by e-mail or single sign-on for one.";
  return "This session has no account yet: POST /api/account with a handle opens one.";
}
