import type { Request, Response } from "express";
import { z } from "zod";
import { clientOf } from "../../shared/client-address.ts";
import type { Database, Queryable } from "../../shared/postgres.ts";
import { isMailAddress, mailboxOf } from "../accounts/users.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import type { Config } from "../config.ts";
import type { SignIn } from "./sign-in.ts";

export interface EnterNeeds {
  readonly signIn: SignIn;
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
}

export const emailRequest = z.strictObject({
  email: z.string().refine(isMailAddress, "must be an e-mail address").describe("Where the link goes."),
});

/** Where to go on to, signed in: a path of this service, and never another's address. */
export const nextPath = z
  .string()
  .regex(/^\/(?![/\\])[^\s\\]{0,500}$/, "must be a path of this service")
  .refine(isOwnPage, "must be a page of this service");

/** Resolves dots and escapes as a browser does; a path that only programs read is no page. */
function isOwnPage(path: string): boolean {
  if (!URL.canParse(path, "http://own")) return false;
  const { origin, pathname } = new URL(path, "http://own");
  return origin === "http://own" && !/^\/(\/|api(\/|$)|[^/]*%)/i.test(pathname);
}

/** Where who asked for no other page lands, signed in. */
export const landingPath = "/settings/keys";

/** The path that a person asked for in the page's address; `otherwise` where it is no page of this service. */
export function nextOf(asked: string | null | undefined, otherwise = landingPath): string {
  return nextPath.safeParse(asked).success ? (asked as string) : otherwise;
}

/**
 * Sends a link that signs in once and then leads to `next`; answers it where it may be shown. Throws ApiError: 429 for too
 * many from one place or for one mailbox.
 */
export async function sendLink({ signIn, db }: EnterNeeds, request: Request, email: string, next?: string) {
  await admitFrom(db, request);
  await admitLink(db, email, signIn.links.askerOf(request, email));
  return signIn.links.send(request, email, next);
}

/** Opens the session that a link's token stands for. Throws ApiError: 401 when it was used or is too old. */
export async function enterByLink({ signIn, db }: EnterNeeds, request: Request, response: Response, token: string) {
  await admitFrom(db, request);
  await signIn.links.open(request, response, token);
}

/** Where signing in at the provider begins. Throws ApiError: 404 where there is none, 503 while it does not answer. */
export async function enterAtProvider({ signIn, db }: EnterNeeds, request: Request, response: Response, next: string) {
  await admitFrom(db, request);
  return signIn.singleSignOn.start(request, response, next);
}

/** Counts one more e-mail with a link to this mailbox by who asks for it, whatever the link is for; 429 for too many. */
export async function admitLink(db: Queryable, email: string, asker: string): Promise<void> {
  const subject = `sign-in:${mailboxOf(email)} for ${asker}`;
  await admitOrRefuse(db, subject, linksPerMinute, "Too many links for this address.");
}

const linksPerMinute = 5;

/** Guessing, and filling other people's mail boxes, is slow from one place. */
export async function admitFrom(db: Database, { ip = "unknown" }: Request): Promise<void> {
  await admitOrRefuse(db, `sign-in-from:${clientOf(ip)}`, 60, "Too many attempts to sign in from here.");
}
