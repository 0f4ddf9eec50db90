/**
 * What the names of the cookies begin with that the service at `publicUrl` sets. On https a browser takes such a cookie from this
 * very host alone, and not from a neighbour under the same domain.
 */
export function cookiePrefixAt(publicUrl: string): string {
  return publicUrl.startsWith("https:") ? "__Host-marketplace" : "marketplace";
}

/** The cookie of a session there. */
export function sessionCookieAt(publicUrl: string): string {
  return `${cookiePrefixAt(publicUrl)}.session_token`;
}

/** Where a Set-Cookie header opens a session, at an address of either kind. */
export const opensSession = /^(?:__Host-)?marketplace\.session_token=[^;]/;

/** Where a request's cookies may hold a session. */
export const mayHoldSession = /marketplace\.session_token=/;
