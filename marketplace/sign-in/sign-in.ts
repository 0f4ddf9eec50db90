import { betterAuth } from "better-auth";
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { genericOAuth } from "better-auth/plugins/generic-oauth";
import { magicLink } from "better-auth/plugins/magic-link";
import { z } from "zod";
import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Wallet } from "../accounts/wallet-proof.ts";
import type { OidcConfig, SignInConfig } from "./config.ts";
import { columns } from "./tables.ts";

export const linkMinutes = 15;
export const oidcProvider = "oidc";
/** Where the provider sends people back to; registered there as the redirect URI. */
export const oidcCallbackPath = `/api/account/sign-in/callback/${oidcProvider}`;

/**
 * better-auth, with its tables beside ours: sessions, e-mail links, OpenID Connect, and sessions for who shows a wallet
 * alone. Its own router stays closed, but for the way back from the provider: requests go through our route table.
 */
export function createAuth(options: AuthOptions) {
  const { db, log, publicUrl, secret } = options;
  return betterAuth({
    appName: "marketplace",
    baseURL: publicUrl,
    basePath: "/api/account/sign-in",
    secret,
    database: db,
    ...columns,
    session: { ...columns.session, expiresIn: 7 * day, updateAge: day },
    account: { ...columns.account, accountLinking: { enabled: true }, updateAccountOnSignIn: false },
    // What a provider lets us do with its accounts is of no use here, so it is not kept.
    databaseHooks: { account: { create: { before: async (identity) => ({ data: { ...identity, ...noTokens } }) } } },
    plugins: [
      magicLink({
        expiresIn: linkMinutes * 60,
        storeToken: "hashed",
        sendMagicLink: async ({ token, metadata }) => (metadata as unknown as Delivery).deliver(token),
      }),
      walletSessions,
      ...(options.oidc ? [genericOAuth({ config: [providerOf(options.oidc)] })] : []),
    ],
    advanced: {
      cookiePrefix: "marketplace",
      useSecureCookies: publicUrl.startsWith("https:"),
      ipAddress: { disableIpTracking: true },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: "warn", log: (level, message) => log[level === "error" ? "warn" : "debug"]({ level }, message) },
  });
}

export type Auth = ReturnType<typeof createAuth>;

export interface AuthOptions {
  readonly db: Database;
  readonly log: Log;
  readonly publicUrl: string;
  readonly secret: string;
  readonly oidc: SignInConfig["oidc"];
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
        const found = await internalAdapter.findUserByEmail(email);
        const user =
          found?.user ?? (await internalAdapter.createUser(walletUser(email, ctx.body), { method: "wallet" }));
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

/** The address that stands for a wallet where an e-mail address is needed; mail to `.invalid` goes nowhere (RFC 2606). */
function placeholderOf({ network, address }: Wallet): string {
  return `${address.toLowerCase()}@${network.replace(":", "-")}.wallet.invalid`;
}

function providerOf({ issuer, clientId, clientSecret, name }: OidcConfig) {
  return {
    providerId: oidcProvider,
    name,
    clientId,
    clientSecret: clientSecret.reveal(),
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    requireIdTokenVerification: true,
    scopes: ["openid", "email", "profile"],
  };
}

const day = 24 * 60 * 60;
const noTokens = { accessToken: null, refreshToken: null, idToken: null };
