import type { OidcConfig } from "./config.ts";

/**
 * The subject of an ID token. better-auth has checked its signature, nonce and expiry, and that this service is in its
 * audience, where there was a token; this checks what better-auth leaves open (OpenID Connect Core §3.1.3.7, §5.3.2). Throws when
 * the token is missing, another issuer's, meant for other audiences too, without an expiry, or about another person than the
 * profile.
 */
export function subjectOf(config: OidcConfig, idToken: string | undefined, profile: { sub?: unknown }): string {
  if (idToken === undefined) throw new Error("the provider sent no ID token");
  const { iss, sub, aud, azp, exp, iat } = JSON.parse(
    Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString("utf8"),
  ) as Claims;
  const audiences = [aud].flat();
  if (typeof iss !== "string" || iss.replace(/\/$/, "") !== config.issuer)
    throw new Error("the ID token is of another issuer");
  if (!audiences.includes(config.clientId)) throw new Error("the ID token is for another client");
  if ((audiences.length > 1 || azp !== undefined) && azp !== config.clientId) {
    throw new Error("the ID token was issued to another client");
  }
  if (typeof exp !== "number" || typeof iat !== "number") throw new Error("the ID token has no end");
  if (typeof sub !== "string" || sub === "" || profile.sub !== sub)
    throw new Error("the ID token is of another person");
  return sub;
}

type Claims = Partial<Record<"iss" | "sub" | "aud" | "azp" | "exp" | "iat", unknown>>;
