import type { RequestHandler } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { limitIn, type RequestCounts } from "../../shared/rate-limit.ts";
import type { Account } from "../accounts/create.ts";
import { accountOfUser } from "../accounts/users.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import type { Config } from "../config.ts";
import { sessionOf } from "../http/callers.ts";
import { changesPerMinute, sessionCallsPerMinute } from "../http/calls-per-minute.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import type { Session } from "./sessions.ts";
import type { SignIn } from "./sign-in.ts";

const draftSavesPerMinute = 120;

/**
 * Lets a request through that carries a session and comes from a page of this service: by the cookie alone another site
 * could make a browser act for its user. 401 without a session, 403 from another origin, 429 past the limit.
 */
export function requireSession(context: SessionNeeds): RequestHandler[] {
  return [
    requireSameOrigin(context),
    async (request, response, next) => {
      const session = await context.signIn.sessions.read(request, response);
      if (!session) {
        throw new ApiError("unauthenticated", "Sign in first; GET /sign-in shows how.", {
          headers: { "www-authenticate": 'Session realm="marketplace"' },
        });
      }
      await admitSession(context, session);
      response.locals.session = session;
      next();
    },
  ];
}

/** Counts one call of the person; 429 past the limit. */
async function admitSession({ db, valkey }: SessionNeeds, { userId }: Session): Promise<void> {
  const subject = `session:${userId}`;
  if (!valkey) return admitOrRefuse(db, subject, sessionCallsPerMinute);
  return limitIn(valkey, subject, sessionCallsPerMinute, `No more than ${sessionCallsPerMinute} requests a minute.`);
}

/** Lets in only the holder of an open account: 403 for a session without one. */
export function requireAccount(context: SessionNeeds): RequestHandler[] {
  return [
    ...requireSession(context),
    async (request, response, next) => {
      const session = sessionOf(response);
      const account = await accountOfUser(context.db, session.userId);
      if (!account) throw new ApiError("forbidden", reasonFor(session));
      requireOpen(account);
      requireShownTo(account, request.get("x-account"));
      if (request.method !== "GET") await admitAccountChange(context.db, account);
      response.locals.account = account;
      next();
    },
  ];
}

/**
 * Counts one change by the holder of an open account, as a form of a page makes it. 403 for an account that is not open, 429 past
 * the limit.
 */
export async function admitAccountChange(db: Queryable, account: Account): Promise<void> {
  requireOpen(account);
  await admitOrRefuse(db, `changes:${account.id}`, changesPerMinute);
}

/** Counts one save by an editor that saves as one types: a limit of its own, so that typing leaves room for other changes. */
export async function admitDraftSave(db: Queryable, account: Account): Promise<void> {
  requireOpen(account);
  await admitOrRefuse(db, `draft-saves:${account.id}`, draftSavesPerMinute);
}

/**
 * Whether a page was shown to the account that is signed in by now: in another tab the person may have signed in as another. A
 * page says whom it was shown to by the header `x-account`, or by its form's field `account`; programs say nothing.
 */
export function isShownTo({ id }: Account, shownTo: string | null | undefined): boolean {
  return shownTo === undefined || shownTo === null || shownTo === id;
}

/** 403 unless the page was shown to this account (isShownTo). */
export function requireShownTo(account: Account, shownTo: string | null | undefined): void {
  if (isShownTo(account, shownTo)) return;
  const message = `This page was shown to another account than "${account.handle}", as which you are signed in now. Reload it.`;
  throw new ApiError("forbidden", message);
}

function requireOpen({ state, handle }: Account): void {
  if (state !== "open") throw new ApiError("forbidden", `The account "${handle}" is ${state}.`);
}

export interface SessionNeeds {
  readonly config: Pick<Config, "publicUrl">;
  readonly db: Queryable;
  readonly signIn: Pick<SignIn, "sessions">;
  readonly valkey?: RequestCounts | undefined;
}

function reasonFor({ wallet }: Session): string {
  if (wallet) return "A session signed in with a wallet has no account. Sign in by e-mail or single sign-on for one.";
  return "This session has no account yet: POST /api/account with a handle opens one.";
}
