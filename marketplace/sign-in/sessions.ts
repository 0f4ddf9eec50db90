import { randomBytes } from "node:crypto";
import { fromNodeHeaders } from "better-auth/node";
import type { Request, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import { challengeText, type Wallet } from "../accounts/wallet-proof.ts";
import { newId } from "../ids.ts";
import type { SignInConfig } from "./config.ts";
import { createMailer, type Mailer } from "./mail.ts";
import { type Auth, createAuth, linkMinutes, oidcProvider } from "./sign-in.ts";

const challengeMinutes = 10;
const rebuildAfterMs = 2_000;

/** The ways in and out: each ends in a session cookie on the response, or an ApiError. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #mailer: Mailer | undefined;
  readonly #host: string;
  #auth: Auth | undefined;
  #builtAtMs = 0;

  constructor(options: SessionsOptions) {
    this.#options = options;
    const { hostname, host } = new URL(options.publicUrl);
    this.#host = host;
    this.#mailer = createMailer(options.config, host);
    this.showsLinks = this.#mailer === undefined && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  }

  /** Links are shown to whoever asks for one: on a developer's machine, where there is no mail server. */
  readonly showsLinks: boolean;

  /** What the operator set up. */
  get ways(): { email: boolean; oidc: string | null; wallet: boolean } {
    const { sessionSecret, oidc } = this.#options.config;
    const on = sessionSecret !== undefined;
    return {
      email: on && (this.#mailer !== undefined || this.showsLinks),
      oidc: on && oidc ? oidc.name : null,
      wallet: on,
    };
  }

  /** Sends a link that signs in once; the link itself where it may be shown. The same for known and unknown addresses. */
  async sendLink(request: Request, email: string): Promise<string | undefined> {
    const auth = await this.#ready();
    if (!this.ways.email) throw new ApiError("not_found", "There is no signing in by e-mail here.");
    let shown: string | undefined;
    const deliver = async (token: string) => {
      const link = `${this.#options.publicUrl}/sign-in?token=${token}`;
      if (this.showsLinks) shown = link;
      else await this.#mailer?.sendLink(email, link, linkMinutes);
    };
    await auth.api.signInMagicLink({ body: { email, metadata: { deliver } }, headers: headersOf(request) });
    return shown;
  }

  /** Exchanges a link's token for a session. 401 for one that is unknown, used or too old. */
  async openLink(request: Request, response: Response, token: string): Promise<void> {
    const auth = await this.#ready();
    const answer = await auth.api.magicLinkVerify({ query: { token }, headers: headersOf(request), asResponse: true });
    if (answer.status !== 200) throw new ApiError("unauthenticated", "This link was used already, or is too old.");
    passCookies(answer, response);
  }

  /** Where the provider's own sign-in begins; it comes back to `finishOidc`, and then goes on to `next`. */
  async startOidc(request: Request, response: Response, next: string): Promise<string> {
    const auth = await this.#withProvider();
    const answer = await auth.api.signInSocial({
      body: { provider: oidcProvider, callbackURL: next, errorCallbackURL: next, disableRedirect: true },
      headers: headersOf(request),
      asResponse: true,
    });
    const { url } = (await answer.json()) as { url?: string };
    if (!url) throw providerAway();
    passCookies(answer, response);
    return url;
  }

  /** The provider sent somebody back: where to go on to, signed in. 401 when the provider or we refused. */
  async finishOidc(request: Request, response: Response): Promise<string> {
    const auth = await this.#withProvider();
    const url = new URL(request.originalUrl, this.#options.publicUrl);
    const answer = await auth.handler(new Request(url, { headers: headersOf(request) }));
    const location = new URL(answer.headers.get("location") ?? "/", this.#options.publicUrl);
    const refused = location.searchParams.get("error");
    if (answer.status !== 302 || refused !== null) {
      const why = refused === null ? "" : ` (${refused})`;
      throw new ApiError("unauthenticated", `Single sign-on did not work${why}; begin again.`);
    }
    passCookies(answer, response);
    return location.href;
  }

  /** A text for the wallet to sign, and its name for the answer. */
  async challenge(wallet: Wallet): Promise<Challenge> {
    const auth = await this.#ready();
    const id = newId("chl");
    const expiresAt = new Date(Date.now() + challengeMinutes * 60_000);
    const nonce = randomBytes(16).toString("hex");
    const message = challengeText(wallet, "You sign in with this wallet.", this.#host, nonce, expiresAt);
    const { internalAdapter } = await auth.$context;
    await internalAdapter.createVerificationValue({
      identifier: challengeOf(id),
      value: JSON.stringify({ ...wallet, message }),
      expiresAt,
    });
    return { id, message, expiresAt };
  }

  /** What was to be signed under that name, once; 422 when it is unknown, used or too old. */
  async takeChallenge(id: string): Promise<Wallet & { message: string }> {
    const { internalAdapter } = await (await this.#ready()).$context;
    const taken = await internalAdapter.consumeVerificationValue(challengeOf(id));
    if (taken && taken.expiresAt > new Date()) return JSON.parse(taken.value);
    const field = { body: { field: "challenge_id" } };
    throw new ApiError("invalid_value", '"challenge_id" is unknown, was used already, or is too old.', field);
  }

  /** A session for a wallet that has proved itself. */
  async openForWallet(request: Request, response: Response, { network, address }: Wallet): Promise<void> {
    const auth = await this.#ready();
    const body = { network, address };
    passCookies(await auth.api.signInWallet({ body, headers: headersOf(request), asResponse: true }), response);
  }

  /** Who is signed in, and their session; undefined when nobody is. A session in use is prolonged. */
  async read(request: Request, response: Response): Promise<Session | undefined> {
    if (!request.headers.cookie) return undefined;
    const auth = await this.#ready();
    const { headers, response: found } = await auth.api.getSession({
      headers: headersOf(request),
      returnHeaders: true,
    });
    if (!found) return undefined;
    passCookies({ headers }, response);
    const { id, emailVerified, email, walletNetwork, walletAddress } = found.user;
    const wallet = walletNetwork && walletAddress ? { network: walletNetwork, address: walletAddress } : undefined;
    return { userId: id, wallet, email: wallet || !emailVerified ? undefined : email };
  }

  /** Ends this session, or all of the person's. */
  async close(request: Request, response: Response, session: Session, everywhere: boolean): Promise<void> {
    const auth = await this.#ready();
    if (everywhere) {
      await this.#options.db.query("delete from sign_in_sessions where user_id = $1", [session.userId]);
    }
    passCookies(await auth.api.signOut({ headers: headersOf(request), asResponse: true }), response);
  }

  stop(): void {
    this.#mailer?.stop();
  }

  async #withProvider(): Promise<Auth> {
    const auth = await this.#ready();
    if (!this.#options.config.oidc) throw new ApiError("not_found", "There is no single sign-on here.");
    if (!(await hasProvider(auth))) throw providerAway();
    return auth;
  }

  /** A provider that could not be asked when the service started is asked again, for it is not known before. */
  async #ready(): Promise<Auth> {
    const { config, ...options } = this.#options;
    if (!config.sessionSecret) throw new ApiError("unavailable", "Signing in is not set up here.");
    const lacksProvider = this.#auth && config.oidc && !(await hasProvider(this.#auth));
    if (!this.#auth || (lacksProvider && Date.now() - this.#builtAtMs > rebuildAfterMs)) {
      this.#builtAtMs = Date.now();
      this.#auth = createAuth({ ...options, secret: config.sessionSecret.reveal(), oidc: config.oidc });
    }
    return this.#auth;
  }
}

export interface SessionsOptions {
  readonly config: SignInConfig;
  readonly db: Database;
  readonly log: Log;
  readonly publicUrl: string;
}

export interface Session {
  readonly userId: string;
  /** Of who signed in with a wallet alone. */
  readonly wallet: Wallet | undefined;
  /** Shown to be theirs; undefined otherwise. */
  readonly email: string | undefined;
}

export interface Challenge {
  readonly id: string;
  readonly message: string;
  readonly expiresAt: Date;
}

function providerAway(): ApiError {
  return new ApiError("unavailable", "Single sign-on is not available at the moment; try again shortly.");
}

const challengeOf = (id: string) => `wallet-challenge:${id}`;

async function hasProvider(auth: Auth): Promise<boolean> {
  return (await auth.$context).socialProviders.some(({ id }) => id === oidcProvider);
}

function headersOf(request: Request): Headers {
  return fromNodeHeaders(request.headers);
}

function passCookies({ headers }: Pick<globalThis.Response, "headers">, response: Response): void {
  for (const cookie of headers.getSetCookie()) response.appendHeader("set-cookie", cookie);
}
