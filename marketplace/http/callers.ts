import type { Response } from "express";
// Types only: those folders say what an account, a caller and a session are, and their endpoints ask here who calls.
import type { Account } from "../accounts/create.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import type { Session } from "../sign-in/sessions.ts";

/** The holder of the API key, on a request that `requireKey` let through. */
export function callerOf(response: Response): Caller {
  return response.locals.caller as Caller;
}

/** The session of a request that `requireSession` let through. */
export function sessionOf(response: Response): Session {
  return response.locals.session as Session;
}

/** The account of a request that `requireAccount` let through. */
export function accountOf(response: Response): Account {
  return response.locals.account as Account;
}
