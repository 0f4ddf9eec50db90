import { type EnvReader, Secret } from "../../shared/env.ts";

/** How people sign in. Without a session secret nobody can. */
export interface SignInConfig {
  readonly sessionSecret: Secret | undefined;
  /** Where links are sent from; without it, only a service at a loopback address signs in by e-mail: it shows the link. */
  readonly mail: { readonly smtpUrl: Secret; readonly from: string } | undefined;
  /** An OpenID Connect provider. */
  readonly oidc: OidcConfig | undefined;
}

export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** As people know it. */
  readonly name: string;
}

export function readSignIn(env: EnvReader): SignInConfig {
  const secret = env.optional("SESSION_SECRET");
  if (secret !== undefined && secret.length < 32) env.problem("SESSION_SECRET must have 32 characters or more", "");
  return {
    sessionSecret: secret === undefined ? undefined : new Secret(secret),
    mail: readMail(env),
    oidc: readOidc(env),
  };
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
