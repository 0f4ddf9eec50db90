/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { TextField } from "../../../shared/page/field.tsx";
import type { Config } from "../../config.ts";
import type { Tools } from "../../connectors/connector.ts";
import { linkMinutes } from "../../sign-in/auth.ts";
import { type EnterNeeds, landingPath } from "../../sign-in/enter.ts";
import { payableNetworks } from "../../stablecoins.ts";
import { SignInBox } from "../sign-in-box.tsx";

export interface SignInNeeds extends EnterNeeds {
  readonly tools: Pick<Tools, "evm">;
  readonly config: EnterNeeds["config"] & Pick<Config, "demoWalletScript">;
}

/** What was given, so that a form comes back filled in. */
export interface Asked {
  readonly next: string;
  readonly email: string;
}

export interface Problem {
  readonly status: number;
  readonly message: string;
  /** Where it can be put right; above the form otherwise. */
  readonly field?: "email" | undefined;
}

interface WaysProps {
  readonly needs: SignInNeeds;
  readonly asked: Asked;
  readonly problem: Problem | undefined;
}

export function Ways({ needs: { signIn, tools }, asked, problem }: WaysProps) {
  const { email, oidc, passkey } = signIn.ways;
  if (!email && !oidc) {
    return (
      <SignInBox title="Sign in">
        <Callout title="Signing in is not set up here">Paying per call by wallet needs no account.</Callout>
      </SignInBox>
    );
  }
  return (
    <SignInBox
      title="Sign in"
      lede="One account for keys, credits and your own agents. Paying per call by wallet needs none."
    >
      {problem && !problem.field && <Callout tone="bad" role="alert" title={problem.message} />}
      {email && <EmailForm asked={asked} error={problem?.field && problem.message} />}
      {email && oidc && <Or />}
      {passkey && <PasskeyWay next={asked.next} label="Sign in with a passkey" hasOr={!oidc} />}
      <div class="stack stack-2">
        {oidc && (
          <form method="post" action="/sign-in">
            <input type="hidden" name="way" value="provider" />
            <input type="hidden" name="next" value={asked.next} />
            <Button size="large" block icon="building">
              {oidc === "single sign-on" ? "Single sign-on" : oidc}
            </Button>
          </form>
        )}
        <WalletWay next={asked.next} networks={payableNetworks.filter((id) => tools.evm.client(id))} isAlone={!oidc} />
      </div>
    </SignInBox>
  );
}

/** A passkey signs in the browser: an island shows the way where the browser can. */
export function PasskeyWay({ next, label, hasOr }: { next: string; label: string; hasOr: boolean }) {
  return (
    <div class="stack stack-2" id="passkey-way" data-next={next} hidden>
      {hasOr && <Or />}
      <Button id="passkey" type="button" size="large" block icon="fingerprint">
        {label}
      </Button>
      <p class="small" id="passkey-said" role="status" />
    </div>
  );
}

function Or() {
  return <p class="or">or</p>;
}

function EmailForm({ asked, error }: { asked: Asked; error: string | undefined }) {
  return (
    <form class="stack" method="post" action="/sign-in" data-busy="Sending">
      <input type="hidden" name="way" value="email" />
      <input type="hidden" name="next" value={asked.next} />
      <TextField
        id="email"
        name="email"
        label="E-mail"
        type="email"
        autocomplete="email webauthn"
        placeholder="you@company.com"
        required
        autofocus
        value={asked.email}
        help="We send a link that signs you in. No password."
        error={error}
      />
      <Button look="primary" size="large" block>
        Send the link
      </Button>
    </form>
  );
}

/** A wallet signs in the browser: an island shows the way where there is one to sign for a chain that this service reads. */
function WalletWay({ next, networks, isAlone }: { next: string; networks: readonly string[]; isAlone: boolean }) {
  if (networks.length === 0) return null;
  // A wallet alone has no account whose pages it could land on.
  const landing = next === landingPath ? "/explore" : next;
  return (
    <div class="stack stack-2" id="wallet-way" data-next={landing} data-networks={networks.join(" ")} hidden>
      {isAlone && <Or />}
      <div class="stack stack-2" id="wallets" />
      <p class="small" id="wallet-said" role="status" />
      <p class="help">With a wallet alone you can browse and pay. Keys and credits need an e-mail or single sign-on.</p>
    </div>
  );
}

/** The page that a mailed link opens. */
export function Confirmation({ token, next, email, before }: ConfirmationProps) {
  return (
    <SignInBox title="Sign in with this link" lede="The link works once, in this browser or any other.">
      <p>
        You sign in as <b class="strong">{email}</b>. Go on only if that is your address.
      </p>
      {before && (
        <Callout tone="warn" title={`This browser is signed in as ${before}`}>
          What you do here from then on, such as buying credits, is done for {email}.
        </Callout>
      )}
      <form method="post" action="/sign-in" data-busy="Signing in">
        <input type="hidden" name="way" value="link" />
        <input type="hidden" name="token" value={token} />
        <input type="hidden" name="next" value={next} />
        <Button look="primary" size="large" block autofocus>
          Sign in
        </Button>
      </form>
    </SignInBox>
  );
}

interface ConfirmationProps {
  readonly token: string;
  readonly next: string;
  readonly email: string;
  /** Who is signed in in this browser, where that is somebody else. */
  readonly before: string | undefined;
}

/** The page of a link that opens nothing any more, for who is signed in. */
export function EndedLink({ why, next, viewer }: { why: string; next: string; viewer: string }) {
  return (
    <SignInBox title="Sign in with this link">
      <Callout tone="warn" role="alert" title={why}>
        This browser is signed in as {viewer}.
      </Callout>
      <ButtonLink look="primary" size="large" block href={next}>
        Go on
      </ButtonLink>
    </SignInBox>
  );
}

export function LinkSent({ email, link, again }: { email: string; link: string | undefined; again: string }) {
  return (
    <SignInBox title="Look at your mail">
      {link === undefined ? (
        <Callout tone="info" icon="mail" role="status" title="The link is on its way">
          It goes to <span class="mono">{email}</span> and works once, for {linkMinutes} minutes.
        </Callout>
      ) : (
        <Callout tone="info" icon="mail" role="status" title="Development: no mail server here">
          The link for <span class="mono">{email}</span> is{" "}
          <a class="link" href={link}>
            open this link
          </a>
          . It works once, for {linkMinutes} minutes.
        </Callout>
      )}
      <p class="small dim">
        Nothing there?{" "}
        <a class="link" href={again}>
          Ask for another
        </a>
        ; the newest link is the one that works.
      </p>
    </SignInBox>
  );
}
