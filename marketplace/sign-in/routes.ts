import type { Request, RequestHandler } from "express";
import { z } from "zod";
import { readWallet } from "../accounts/own-wallets.ts";
import { requireProof } from "../accounts/wallet-proof.ts";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { admitOrRefuse } from "../rate-limit.ts";
import { signInPage } from "./page.ts";
import { sessionOf } from "./require-session.ts";
import { linkMinutes } from "./sign-in.ts";

export const emailBody = z.strictObject({ email: z.email().max(254).describe("Where the link goes.") });
export const tokenBody = z.strictObject({ token: z.string().min(1).max(200).describe("As the link carries it.") });
export const oidcBody = z.strictObject({
  next: z
    .string()
    .regex(/^\/(?![/\\])[^\s\\]{0,500}$/, "must be a path of this service")
    .default("/api/account")
    .describe("Where to go on to, signed in."),
});
export const challengeBody = z.strictObject({
  network: z.string().describe("CAIP-2, such as `hedera:mainnet` or `eip155:8453`."),
  address: z.string().describe("An account id on Hedera, an address on an EVM chain."),
});
export const walletSignInBody = z.strictObject({
  challenge_id: z.string().max(64),
  signature: z.string().max(8_192).describe("Of the challenge's message; hexadecimal, or base64 on Hedera."),
});
export const signOutBody = z.strictObject({ everywhere: z.boolean().default(false) });

/** GET /sign-in: the page, with a token the one that a link opens. */
export function getSignIn({ sessions }: Context): RequestHandler {
  return (_request, response) => {
    const { html, policy } = signInPage(sessions.ways);
    response.setHeader("content-security-policy", policy);
    response.type("html").send(html);
  };
}

/** POST /api/account/sign-in/email */
export function postEmail({ sessions, db }: Context): RequestHandler {
  return async (request, response) => {
    const { email } = parse(emailBody, request.body ?? {}, "bad_request");
    await admitFrom(db, request);
    await admitOrRefuse(db, `sign-in:${email.toLowerCase()}`, 5, "Too many links for this address.");
    const link = await sessions.sendLink(request, email);
    response.status(202).json({ sent_to: email, expires_in_seconds: linkMinutes * 60, ...(link ? { link } : {}) });
  };
}

/** POST /api/account/sign-in/email/confirm */
export function postEmailToken({ sessions, db }: Context): RequestHandler {
  return async (request, response) => {
    const { token } = parse(tokenBody, request.body ?? {}, "bad_request");
    await admitFrom(db, request);
    await sessions.openLink(request, response, token);
    response.json({ signed_in: true });
  };
}

/** POST /api/account/sign-in/oidc */
export function postOidc({ sessions, db }: Context): RequestHandler {
  return async (request, response) => {
    const { next } = parse(oidcBody, request.body ?? {}, "bad_request");
    await admitFrom(db, request);
    response.json({ url: await sessions.startOidc(request, response, next) });
  };
}

/** GET /api/account/sign-in/callback/oidc: the provider's browser redirect. */
export function getOidcCallback({ sessions, db }: Context): RequestHandler {
  return async (request, response) => {
    await admitFrom(db, request);
    response.redirect(303, await sessions.finishOidc(request, response));
  };
}

/** POST /api/account/sign-in/wallet/challenge */
export function postChallenge({ sessions, db, tools }: Context): RequestHandler {
  return async (request, response) => {
    const wallet = readWallet(tools, parse(challengeBody, request.body ?? {}, "bad_request"));
    await admitFrom(db, request);
    const { id, message, expiresAt } = await sessions.challenge(wallet);
    response.json({ challenge_id: id, message, expires_at: expiresAt });
  };
}

/** POST /api/account/sign-in/wallet */
export function postWalletSignIn({ sessions, db, tools }: Context): RequestHandler {
  return async (request, response) => {
    const { challenge_id: id, signature } = parse(walletSignInBody, request.body ?? {}, "bad_request");
    await admitFrom(db, request);
    const { message, ...wallet } = await sessions.takeChallenge(id);
    await requireProof(tools, wallet, message, signature);
    await sessions.openForWallet(request, response, wallet);
    response.json({ signed_in: true });
  };
}

/** POST /api/account/sign-out */
export function postSignOut({ sessions }: Context): RequestHandler {
  return async (request, response) => {
    const { everywhere } = parse(signOutBody, request.body ?? {}, "bad_request");
    await sessions.close(request, response, sessionOf(response), everywhere);
    response.json({ signed_in: false });
  };
}

/** Guessing, and filling other people's mail boxes, is slow from one place. */
async function admitFrom(db: Context["db"], { ip = "unknown" }: Request): Promise<void> {
  await admitOrRefuse(db, `sign-in-from:${ip}`, 60, "Too many attempts to sign in from here.");
}
