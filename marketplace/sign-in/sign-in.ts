import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import { createAuth } from "./auth.ts";
import type { SignInConfig } from "./config.ts";
import { EmailLinks } from "./email-links.ts";
import { KnownBrowsers } from "./known-browsers.ts";
import { createMailer, type Mailer } from "./mail.ts";
import { Passkeys } from "./passkeys.ts";
import { Sessions } from "./sessions.ts";
import { SingleSignOn } from "./single-sign-on.ts";
import { WalletSignIn } from "./wallet-sign-in.ts";

/** Everything about who is signed in, and the ways to become it. */
export interface SignIn {
  /** What the operator set up. */
  readonly ways: { readonly email: boolean; readonly oidc: string | null; readonly passkey: boolean };
  readonly sessions: Sessions;
  readonly links: EmailLinks;
  readonly singleSignOn: SingleSignOn;
  readonly wallets: WalletSignIn;
  readonly passkeys: Passkeys;
  /** Undefined where there is no mail server. */
  readonly mailer: Mailer | undefined;
  stop(): void;
}

export function createSignIn({ config, db, log, publicUrl }: SignInOptions): SignIn {
  const { sessionSecret, oidc, showsLinks } = config;
  const { host } = new URL(publicUrl);
  const base = sessionSecret && { db, log, publicUrl, secret: sessionSecret.reveal() };
  const auth = base && createAuth(base);
  const mailer = createMailer(config, host);
  const knownBrowsers = base && new KnownBrowsers(base.secret, publicUrl);
  const links = new EmailLinks({ auth, db, publicUrl, mailer, showsLinks, knownBrowsers });
  const passkeys = new Passkeys({ auth, db, publicUrl });
  return {
    ways: {
      email: auth !== undefined && links.isSetUp,
      oidc: auth && oidc ? oidc.name : null,
      passkey: passkeys.isSetUp,
    },
    sessions: new Sessions(auth, db),
    links,
    singleSignOn: new SingleSignOn({ base, oidc, publicUrl }),
    wallets: new WalletSignIn({ auth, db, host }),
    passkeys,
    mailer,
    stop: () => mailer?.stop(),
  };
}

interface SignInOptions {
  readonly config: SignInConfig;
  readonly db: Database;
  readonly log: Log;
  readonly publicUrl: string;
}
