import { AsyncLocalStorage } from "node:async_hooks";
import type { OAuthProvider } from "better-auth/oauth2";

/** What failed while one person who comes back from the provider is looked at, beside what better-auth makes of it. */
const watched = new AsyncLocalStorage<{ failure?: unknown }>();

/** Does `work`; throws what failed meanwhile at the provider or in the database, which better-auth tells as if the person were refused. */
export async function withFailuresThrown<T>(work: () => Promise<T>): Promise<T> {
  const seen: { failure?: unknown } = {};
  const done = await watched.run(seen, work);
  if (seen.failure !== undefined) throw seen.failure;
  return done;
}

/** Notes that `work` failed for the one who waits for it in withFailuresThrown, unless `isRefusal` says that it answered. */
export async function noteFailure<T>(work: Promise<T>, isRefusal: (error: unknown) => boolean): Promise<T> {
  return work.catch((error: unknown) => {
    const seen = watched.getStore();
    if (seen && !isRefusal(error)) seen.failure = error;
    throw error;
  });
}

/**
 * Has what the provider's own endpoints fail with noted: the one for tokens, the one for its keys, and the one for profiles, of which
 * better-auth says no more than that there is none.
 */
export function watchProvider(provider: OAuthProvider): void {
  const { validateAuthorizationCode, getUserInfo, idToken } = provider;
  provider.validateAuthorizationCode = (data) => noteFailure(validateAuthorizationCode(data), isRefusedCode);
  provider.getUserInfo = async (tokens) => {
    const found = await getUserInfo(tokens);
    if (!found && tokens.idToken && !saysEmail(tokens.idToken)) {
      await noteFailure(Promise.reject(new Error("the provider tells no profile")), () => false).catch(() => undefined);
    }
    return found;
  };
  if (idToken && "jwks" in idToken) {
    const { jwks } = idToken;
    idToken.jwks = (...asked) => noteFailure(Promise.resolve(jwks(...asked)), isMissingKey);
  }
}

/** A code that is none, was used or is too old (RFC 6749 §5.2); a client that the provider does not know is our fault. */
function isRefusedCode(error: unknown): boolean {
  const { status } = error as { status?: unknown };
  return status === 400 || status === 403;
}

/** The provider has no such key: the token is not its own. */
function isMissingKey(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ERR_JWKS_NO_MATCHING_KEY" || code === "ERR_JWKS_MULTIPLE_MATCHING_KEYS";
}

function saysEmail(idToken: string): boolean {
  try {
    return "email" in JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString("utf8"));
  } catch {
    return false;
  }
}
