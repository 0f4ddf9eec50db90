import { isIP } from "node:net";
import { type EnvReader, Secret } from "../../shared/env.ts";

/** How people sign in. Without a session secret there is no sign-in. */
export interface SignInConfig {
  readonly sessionSecret: Secret | undefined;
  /** Where links are sent from. */
  readonly mail: { readonly smtpUrl: Secret; readonly from: string } | undefined;
  /** Sign-in links are shown in the answer instead of mailed: only on a developer's machine, which has no mail server. */
  readonly showsLinks: boolean;
  /** An OpenID Connect provider. */
  readonly oidc: OidcConfig | undefined;
}

export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The provider's name, as people know it. */
  readonly name: string;
}

/** Throws nothing: problems are noted in `env`. Where the service listens decides who could read a shown link. */
export function readSignIn(env: EnvReader, { host, publicUrl }: { host: string; publicUrl: string }): SignInConfig {
  const secret = env.optional("SESSION_SECRET");
  if (secret !== undefined && secret.length < 32) env.problem("SESSION_SECRET must have 32 characters or more", "");
  const mail = readMail(env);
  const oidc = readOidc(env);
  const isDeveloping = env.optional("NODE_ENV") !== "production";
  const isLocal = isLoopback(host) && URL.canParse(publicUrl) && isLoopback(new URL(publicUrl).hostname);
  const showsLinks = mail === undefined && isDeveloping && isLocal;
  if (secret !== undefined && !mail && !oidc && !showsLinks) {
    env.problem(
      "no person could sign in: set SMTP_URL and MAIL_FROM, or OIDC_ISSUER and its companions, or leave SESSION_SECRET " +
        "unset. Links are shown instead of sent only where MARKETPLACE_HOST and MARKETPLACE_PUBLIC_URL are loopback " +
        "addresses and NODE_ENV is not production",
      undefined,
    );
  }
  return { sessionSecret: secret === undefined ? undefined : new Secret(secret), mail, showsLinks, oidc };
}

function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

function readMail(env: EnvReader): SignInConfig["mail"] {
  if (env.optional("SMTP_URL") === undefined) return undefined;
  return {
    smtpUrl: env.secret("SMTP_URL", /^smtps?:\/\/\S+$/, "an smtp:// or smtps:// URL"),
    from: env.text("MAIL_FROM"),
  };
}

function readOidc(env: EnvReader): OidcConfig | undefined {
  if (env.optional("OIDC_ISSUER") === undefined) return undefined;
  return {
    issuer: env.url("OIDC_ISSUER"),
    clientId: env.text("OIDC_CLIENT_ID"),
    clientSecret: env.secret("OIDC_CLIENT_SECRET"),
    name: env.text("OIDC_NAME", "single sign-on"),
  };
}
