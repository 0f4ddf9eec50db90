import type { Request, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import { type Auth, type AuthOptions, createAuth, headersOf, passCookies } from "./auth.ts";
import type { OidcConfig } from "./config.ts";
import { oidcProvider } from "./identities.ts";
import { watchProvider, withFailuresThrown } from "./provider-failures.ts";

/** Where the provider sends people back to; registered there as the redirect URI. */
export const oidcCallbackPath = `/api/account/sign-in/callback/${oidcProvider}`;

const patienceMs = 10_000;

/** Sign-in at an OpenID Connect provider. While it does not answer, the other ways to sign in still work. */
export class SingleSignOn {
  readonly #needs: Needs;
  #auth: Promise<Auth> | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Where the provider's own sign-in begins. It leads back to `finish`, and from there to `next`. */
  async start(request: Request, response: Response, next: string): Promise<string> {
    const auth = await this.#ready();
    const body = { provider: oidcProvider, callbackURL: next, errorCallbackURL: next, disableRedirect: true };
    const answer = await soon(auth.api.signInSocial({ body, headers: headersOf(request), asResponse: true }));
    const { url } = (await answer.json()) as { url?: string };
    if (!url) throw away();
    passCookies(answer, response);
    return url;
  }

  /**
   * The provider sent a person back: answers where they go next, signed in. 401 when the provider or this service refused, 503 when the
   * provider could not be asked.
   */
  async finish(request: Request, response: Response): Promise<string> {
    const auth = await this.#ready();
    const { publicUrl } = this.#needs;
    // No database keeps NUL: what has one is no state of ours.
    const url = new URL(request.originalUrl.replaceAll("%00", ""), publicUrl);
    const asked = new Request(url, { headers: headersOf(request) });
    const answer = await soon(withFailuresThrown(() => auth.handler(asked)).catch(fail));
    const location = new URL(answer.headers.get("location") ?? "/", publicUrl);
    if (passCookies(answer, response)) return location.href;
    const why = location.searchParams.get("error");
    if (answer.status >= 500 || why === failedHere) throw away(new Error("the library failed"));
    const advice = "The provider has to vouch for your e-mail address; begin again.";
    throw new ApiError("unauthenticated", `Single sign-on did not work${isWord(why) ? ` (${why})` : ""}. ${advice}`);
  }

  /** better-auth asks the provider about itself once, when it is made: that is done when it answers, not before. */
  async #ready(): Promise<Auth> {
    const { base, oidc } = this.#needs;
    if (!base) throw new ApiError("unavailable", "Signing in is not set up here.");
    if (!oidc) throw new ApiError("not_found", "There is no single sign-on here.");
    this.#auth ??= makeAuth(base, oidc).catch((cause) => {
      this.#auth = undefined;
      throw away(cause);
    });
    return this.#auth;
  }
}

async function makeAuth(base: AuthOptions, oidc: OidcConfig): Promise<Auth> {
  const auth = createAuth({ ...base, oidc });
  const { socialProviders } = await soon(auth.$context);
  const provider = socialProviders.find(({ id }) => id === oidcProvider);
  if (!provider) throw new Error("the provider does not say how to sign in with it");
  watchProvider(provider);
  return auth;
}

/** What the library says where it could not read what it keeps. */
const failedHere = "internal_server_error";

/** The error comes from an address that anybody can write: words of theirs are not told as ours. */
const isWord = (error: string | null) => error !== null && /^\w{1,60}$/.test(error);

/** The library waits for the provider without a limit. */
async function soon<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(away(new Error("the provider is silent"))), patienceMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function fail(cause: unknown): never {
  throw away(cause);
}

function away(cause?: unknown): ApiError {
  return new ApiError("unavailable", "Single sign-on is not available at the moment; try again shortly.", { cause });
}

interface Needs {
  /** Undefined where no session secret is set. */
  readonly base: AuthOptions | undefined;
  readonly oidc: OidcConfig | undefined;
  readonly publicUrl: string;
}
