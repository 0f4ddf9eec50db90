import { createHash } from "node:crypto";
import { betterAuth } from "better-auth";
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { fromNodeHeaders } from "better-auth/node";
import { genericOAuth } from "better-auth/plugins/generic-oauth";
import { magicLink } from "better-auth/plugins/magic-link";
import type { Request, Response } from "express";
import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import { isMailAddress } from "../accounts/users.ts";
import { cookiePrefixAt, opensSession } from "../http/session-cookie.ts";
import { seenClient } from "../seen-client.ts";
import type { Wallet } from "../wallet.ts";
import type { OidcConfig } from "./config.ts";
import { subjectOf } from "./id-token.ts";
import { isVouchedFor, keepIdentity, oidcProvider } from "./identities.ts";
import { endOldestSessions } from "./own-sessions.ts";
import { passkeysOf } from "./passkey-plugin.ts";
import { noteFailure } from "./provider-failures.ts";
import { columns } from "./tables.ts";

export const linkMinutes = 15;
/** Without use; a session that is used goes on. */
const sessionDays = 7;
/** Characters kept of what a browser calls itself: a header may be as long as all of them together. */
const programMax = 500;

/**
 * better-auth, with its tables beside ours: sessions, e-mail links, OpenID Connect, and sessions for a person who shows a wallet
 * alone. Its own router stays closed, except for the way back from the provider: requests go through our route table.
 */
export function createAuth(options: AuthOptions) {
  const { db, log, publicUrl, secret } = options;
  const isHttps = publicUrl.startsWith("https:");
  return betterAuth({
    appName: "marketplace",
    baseURL: publicUrl,
    basePath: "/api/account/sign-in",
    secret,
    database: db,
    ...columns,
    // Passkeys are added within minutes of signing in, or of an operator's code, by fresh-session.ts: a rule of its own would
    // refuse that code.
    session: { ...columns.session, expiresIn: sessionDays * day, updateAge: day, freshAge: 0 },
    account: { ...columns.account, accountLinking: { enabled: true }, updateAccountOnSignIn: false },
    databaseHooks: {
      // Without proof of the e-mail address there is no sign-in: a stranger could otherwise occupy its owner's address.
      user: { create: { before: async (user) => isProven(user) && { data: user } } },
      // keepIdentity alone writes these, and nothing of what a provider lets us do with its accounts.
      account: { create: { before: async () => false } },
      session: {
        create: {
          before: async (session, ctx) => ({
            data: {
              ...session,
              ipAddress: ctx?.headers?.get(seenFrom) ?? null,
              userAgent: session.userAgent?.slice(0, programMax),
            },
          }),
          after: async ({ userId }) => endOldestSessions(db, userId),
        },
      },
    },
    plugins: [
      magicLink({
        expiresIn: linkMinutes * 60,
        storeToken: { type: "custom-hasher", hash: async (token) => hashOf(token) },
        sendMagicLink: async ({ token, metadata }) => (metadata as unknown as Delivery).deliver(token),
      }),
      walletSessions,
      passkeysOf({ db, publicUrl }),
      ...(options.oidc ? [genericOAuth({ config: [providerOf({ ...options, oidc: options.oidc })] })] : []),
    ],
    advanced: {
      cookiePrefix: cookiePrefixAt(publicUrl),
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isHttps },
      // Only an address's network is kept, as headersOf writes it.
      ipAddress: { disableIpTracking: true },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    // What fails on our side is ours to tell: the library would print the whole error, and answer as if the person were refused.
    onAPIError: { throw: true },
    // Only the messages: other arguments can hold tokens.
    logger: { level: "warn", log: (level, message) => log[level === "error" ? "warn" : "debug"](message) },
  });
}

export type Auth = ReturnType<typeof createAuth>;

export interface AuthOptions {
  readonly db: Database;
  readonly log: Log;
  readonly publicUrl: string;
  readonly secret: string;
  readonly oidc?: OidcConfig;
}

/** Refuses what cannot be done where no session secret is set. */
export function requireAuth(auth: Auth | undefined): Auth {
  if (auth) return auth;
  throw new ApiError("unavailable", "Signing in is not set up here.");
}

/** The request's headers, and roughly where it comes from: a header of its own that says so is overwritten. */
export function headersOf(request: Request): Headers {
  const headers = fromNodeHeaders(request.headers);
  headers.set(seenFrom, seenClient(request).from ?? "");
  return headers;
}

const seenFrom = "x-seen-from";

/** Hands the cookies of better-auth's answer on; true when one of them opens a session. */
export function passCookies({ headers }: Pick<globalThis.Response, "headers">, response: Response): boolean {
  const cookies = headers.getSetCookie();
  for (const cookie of cookies) response.appendHeader("set-cookie", cookie);
  return cookies.some((cookie) => opensSession.test(cookie));
}

/** What is stored of a link's token, which is random. */
export function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

function isProven(user: { email: string; emailVerified: boolean; walletAddress?: unknown }): boolean {
  return user.walletAddress ? true : user.emailVerified === true && isMailAddress(user.email);
}

/** How one request's link reaches its reader. */
export interface Delivery {
  deliver(token: string): Promise<void>;
}

/** A session for a wallet whose signature was checked; it belongs to no account and never can. */
const walletSessions = {
  id: "wallet",
  endpoints: {
    signInWallet: createAuthEndpoint(
      "/wallet",
      { method: "POST", body: z.object({ network: z.string(), address: z.string() }), metadata: { SERVER_ONLY: true } },
      async (ctx) => {
        const { internalAdapter } = ctx.context;
        const email = placeholderOf(ctx.body);
        const find = async () => (await internalAdapter.findUserByEmail(email))?.user;
        const make = () => internalAdapter.createUser(walletUser(email, ctx.body), { method: "wallet" });
        // When two first sign-ins come at once, one finds the user that the other made.
        const user = (await find()) ?? (await make().catch(find));
        if (!user) throw new Error("the user of a wallet could not be made");
        const session = await internalAdapter.createSession(user.id);
        await setSessionCookie(ctx, { session, user });
        return ctx.json({ ok: true });
      },
    ),
  },
} as const;

function walletUser(email: string, { network, address }: Wallet) {
  return { email, emailVerified: false, name: address, walletNetwork: network, walletAddress: address };
}

/** The address that stands for a wallet where an e-mail address is needed; mail to `.invalid` is never delivered (RFC 2606). */
export function placeholderOf({ network, address }: Wallet): string {
  return `${address.toLowerCase()}@${network.replace(":", "-")}.wallet.invalid`;
}

function providerOf(options: AuthOptions & { readonly oidc: OidcConfig }) {
  const { issuer, clientId, clientSecret, name } = options.oidc;
  return {
    providerId: oidcProvider,
    name,
    clientId,
    clientSecret: clientSecret.reveal(),
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    requireIdTokenVerification: true,
    /** Comes when all that the provider says is checked, and before better-auth looks for who it is. */
    accountSubject: async ({ tokens, profile }: { tokens: { idToken?: string | undefined }; profile: object }) => {
      const subject = subjectOf(options.oidc, tokens.idToken, profile);
      await noteFailure(keepIdentity(options, subject, profile), () => false);
      return subject;
    },
    mapProfileToUser: (profile: object) => ({ emailVerified: isVouchedFor(profile) }),
    scopes: ["openid", "email", "profile"],
  };
}

const day = 24 * 60 * 60;
