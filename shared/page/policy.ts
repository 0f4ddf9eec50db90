/** Permissions that a page has beyond those of every page, by directive of its Content-Security-Policy. */
export interface Widening {
  /** `blob:` for pictures that the page itself makes. */
  readonly img?: readonly string[];
  readonly connect?: readonly string[];
  /** `'self'` for a page that starts workers; it needs a trusted types policy too. */
  readonly worker?: readonly string[];
  /** Origins that a form of the page leads to, also by a redirect. */
  readonly form?: readonly string[];
  /** Names of the trusted types policies that islands of the page make. */
  readonly trustedTypes?: readonly string[];
}

/**
 * The Content-Security-Policy of a page: its own origin only, no inline code or style, and no text that becomes markup or
 * code in the browser (Trusted Types).
 */
export function contentSecurityPolicy(widening: Widening = {}): string {
  const { img = [], connect = [], worker = [], form = [], trustedTypes = [] } = widening;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self'", ...img].join(" "),
    "font-src 'self'",
    ["connect-src 'self'", ...connect].join(" "),
    ["form-action 'self'", ...form].join(" "),
    ...(worker.length > 0 ? [["worker-src", ...worker].join(" ")] : []),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypes.length > 0 ? trustedTypes.join(" ") : "'none'"}`,
  ].join("; ");
}

/** The headers of every page. A form that is posted shows its origin under this referrer policy, and not under `no-referrer`. */
export function pageHeaders(widening?: Widening): Readonly<Record<string, string>> {
  return {
    "content-security-policy": contentSecurityPolicy(widening),
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "same-origin",
    // A page shows who is signed in; a browser may keep it for "back", and asks again otherwise.
    "cache-control": "private, no-cache",
  };
}

/**
 * Headers of a page that every visitor without a cookie gets alike: a shared cache answers a crowd for a second, and asks by its
 * ETag; a browser always asks.
 */
export const publicHeaders = { "cache-control": "public, max-age=0, s-maxage=1", vary: "cookie" } as const;
