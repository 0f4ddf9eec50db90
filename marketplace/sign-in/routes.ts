import type { Request, RequestHandler } from "express";
import { z } from "zod";
import { clientOf } from "../../shared/client-address.ts";
import { readWallet } from "../accounts/own-wallets.ts";
import { isMailAddress, mailboxOf } from "../accounts/users.ts";
import { signature, walletBody } from "../accounts/wallet-bodies.ts";
import { requireProof } from "../accounts/wallet-proof.ts";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { admitOrRefuse } from "../rate-limit.ts";
import { linkMinutes } from "./auth.ts";
import { signInPage } from "./page.ts";
import { sessionOf } from "./require-session.ts";

export const emailBody = z.strictObject({
  email: z.string().refine(isMailAddress, "must be an e-mail address").describe("Where the link goes."),
});
export const tokenBody = z.strictObject({ token: z.string().min(1).max(200).describe("As the link carries it.") });
export const oidcBody = z.strictObject({
  next: z
    .string()
    .regex(/^\/(?![/\\])[^\s\\]{0,500}$/, "must be a path of this service")
    .default("/api/account")
    .describe("Where to go on to, signed in."),
});
export const walletSignInBody = z.strictObject({ challenge_id: z.string().max(64), signature });
export const signOutBody = z.strictObject({ everywhere: z.boolean().default(false) });

/** GET /sign-in: the page, with a token the one that a link opens. */
export function getSignIn({ signIn }: Context): RequestHandler {
  return (_request, response) => {
    const { html, policy } = signInPage(signIn.ways);
    response.setHeader("content-security-policy", policy);
    response.type("html").send(html);
  };
}

/** POST /api/account/sign-in/email */
export function postEmail({ signIn, db }: Context): RequestHandler {
  return async (request, response) => {
    const { email } = parse(emailBody, request.body ?? {}, "bad_request");
    await admitFrom(db, request);
    await admitOrRefuse(db, `sign-in:${mailboxOf(email)}`, 5, "Too many links for this address.");
    const link = await signIn.links.send(request, email);
    response.status(202).json({ sent_to: email, expires_in_seconds: linkMinutes * 60, ...(link ? { link } : {}) });
  };
}

/** POST /api/account/sign-in/email/confirm */
export function postEmailToken({ signIn, db }: Context): RequestHandler {
  return async (request, response) => {
    const { token } = parse(tokenBody, request.body ?? {}, "bad_request");
    await admitFrom(db, request);
    await signIn.links.open(request, response, token);
    response.json({ signed_in: true });
  };
}

/** POST /api/account/sign-in/oidc */
export function postOidc({ signIn, db }: Context): RequestHandler {
  return async (request, response) => {
    const { next } = parse(oidcBody, request.body ?? {}, "bad_request");
    await admitFrom(db, request);
    response.json({ url: await signIn.singleSignOn.start(request, response, next) });
  };
}

/** GET /api/account/sign-in/callback/oidc: the provider's browser redirect. */
export function getOidcCallback({ signIn, db }: Context): RequestHandler {
  return async (request, response) => {
    await admitFrom(db, request);
    response.redirect(303, await signIn.singleSignOn.finish(request, response));
  };
}

/** POST /api/account/sign-in/wallet/challenge */
export function postChallenge({ signIn, db, tools }: Context): RequestHandler {
  return async (request, response) => {
    const wallet = readWallet(tools, parse(walletBody, request.body ?? {}, "bad_request"));
    await admitFrom(db, request);
    const { id, message, expiresAt } = await signIn.wallets.challenge(wallet);
    response.json({ challenge_id: id, message, expires_at: expiresAt });
  };
}

/** POST /api/account/sign-in/wallet */
export function postWalletSignIn({ signIn, db, tools }: Context): RequestHandler {
  return async (request, response) => {
    const { challenge_id: id, signature } = parse(walletSignInBody, request.body ?? {}, "bad_request");
    await admitFrom(db, request);
    const { message, ...wallet } = await signIn.wallets.takeChallenge(id);
    await requireProof(tools, wallet, message, signature);
    await signIn.wallets.open(request, response, wallet);
    response.json({ signed_in: true });
  };
}

/** POST /api/account/sign-out */
export function postSignOut({ signIn }: Context): RequestHandler {
  return async (request, response) => {
    const { everywhere } = parse(signOutBody, request.body ?? {}, "bad_request");
    await signIn.sessions.close(request, response, sessionOf(response), everywhere);
    response.json({ signed_in: false });
  };
}

/** Guessing, and filling other people's mail boxes, is slow from one place. */
async function admitFrom(db: Context["db"], { ip = "unknown" }: Request): Promise<void> {
  await admitOrRefuse(db, `sign-in-from:${clientOf(ip)}`, 60, "Too many attempts to sign in from here.");
}
