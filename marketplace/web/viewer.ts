import type { Request, Response } from "express";
import type { Database } from "../../shared/postgres.ts";
import type { Account } from "../accounts/create.ts";
import { accountOfUser } from "../accounts/users.ts";
import type { BalanceLookup } from "../credits/balance.ts";
import { mayHoldSession } from "../http/session-cookie.ts";
import type { Session } from "../sign-in/sessions.ts";
import type { SignIn } from "../sign-in/sign-in.ts";

/** The person who looks at a page. */
export interface Viewer {
  readonly session: Session;
  /** Undefined for a wallet alone, and for a person who has not opened an account yet. */
  readonly account: Account | undefined;
  /** What the account can spend. */
  readonly spendable: bigint | undefined;
}

export interface ViewerNeeds {
  readonly db: Database;
  readonly signIn: SignIn;
  readonly lookups: BalanceLookup;
}

/** The person who is signed in; undefined for all other visitors. */
export async function viewerOf(
  { db, signIn, lookups }: ViewerNeeds,
  request: Request,
  response: Response,
): Promise<Viewer | undefined> {
  if (!mayHoldSession.test(request.headers.cookie ?? "")) return undefined;
  const session = await signIn.sessions.read(request, response);
  if (!session) return undefined;
  const account = await accountOfUser(db, session.userId);
  const balance = account && (await lookups.balance(account.id));
  return { session, account, spendable: balance?.credits };
}

/** The viewer with what their account can spend now, after something was bought. */
export async function seenAnew(
  { lookups }: Pick<ViewerNeeds, "lookups">,
  viewer: Viewer | undefined,
): Promise<Viewer | undefined> {
  if (!viewer?.account) return viewer;
  const balance = await lookups.balance(viewer.account.id);
  return { ...viewer, spendable: balance?.credits };
}

/** What they are called in the head of a page. */
export function nameOf({ session, account }: Viewer): string {
  return account?.handle ?? session.email ?? session.wallet?.address ?? "you";
}
