/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { Button } from "../../../../shared/page/button.tsx";
import { Disclosure } from "../../../../shared/page/disclosure.tsx";
import { Icon } from "../../../../shared/page/icon.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import { freshMinutes } from "../../../fresh-session.ts";
import { passkeyNameMax, type WayIn } from "../../../sign-in/ways-in.ts";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";
import { SignInFirst } from "../sign-in-first.tsx";
import { ChangeEmail } from "./change-email.tsx";

/** The ways to sign in to this account. */
export function WaysIn({ ways, provider, takesPasskeys, isFresh, isOperator, refusal }: WaysInProps) {
  const hasProvider = ways.some(({ kind }) => kind === "provider");
  return (
    <section class="stack" aria-labelledby="ways">
      <div class="row between">
        <h2 id="ways">Ways to sign in</h2>
        <div class="row">
          {takesPasskeys && isFresh && (
            <Button id="add-passkey" type="button" size="small" icon="fingerprint" hidden>
              Add passkey
            </Button>
          )}
          {provider && !hasProvider && (
            <form method="post" action="/sign-in">
              <input type="hidden" name="way" value="provider" />
              <input type="hidden" name="next" value="/settings/account" />
              <Button size="small">Add {provider}</Button>
            </form>
          )}
        </div>
      </div>
      {takesPasskeys && <p class="small" id="passkey-said" role="status" />}
      <ul class="card">
        {ways.map((way) => (
          <Way way={way} isFresh={isFresh} refusal={refusal} />
        ))}
      </ul>
      {!isFresh && (
        <SignInFirst isOperator={isOperator} path="/settings/account">
          {isOperator ? (
            "An operator’s address and passkeys are changed after a code or a passkey."
          ) : (
            <>
              The address is changed{takesPasskeys && ", and passkeys are added and removed,"} within {freshMinutes}{" "}
              minutes of signing in.
            </>
          )}
        </SignInFirst>
      )}
      <p class="small faint">
        The last way in cannot be removed.
        {provider && !hasProvider && ` ${provider} is added when you sign in there with this e-mail address.`}
        {hasProvider && " A provider that is removed comes back when you sign in there with this e-mail address."}
      </p>
    </section>
  );
}

interface WaysInProps {
  readonly ways: readonly WayIn[];
  readonly provider: string | null;
  readonly takesPasskeys: boolean;
  /** Signed in a moment ago. */
  readonly isFresh: boolean;
  readonly isOperator: boolean;
  readonly refusal: Refusal | undefined;
}

const icons = { email: "mail", provider: "building", passkey: "fingerprint" } as const;

function Way({ way, isFresh, refusal }: { way: WayIn } & Pick<WaysInProps, "isFresh" | "refusal">) {
  const { id, kind, created_at: since, used_at: used, works, can_go: canGo } = way;
  const name = kind === "passkey" ? `Passkey “${way.name}”` : way.name;
  const isEmail = kind === "email";
  return (
    <li class="key-slot">
      <div>
        <h3>
          <span class="way-name">
            <Icon name={icons[kind]} />
            {name}
          </span>
          {isEmail && <Badge>main</Badge>}
          {!works && <Badge tone="warn">not set up here now</Badge>}
        </h3>
        <p class="key-meta">
          <span>
            {isEmail ? "since" : "added"} <Time at={since} />
          </span>
          {used && (
            <span>
              used <Time at={used} show="ago" />
            </span>
          )}
          {isEmail && <span>links and alerts go here</span>}
        </p>
      </div>
      {isEmail && isFresh && works && (
        <div class="wide">
          <ChangeEmail refusal={refusal} />
        </div>
      )}
      {kind === "passkey" && <Rename id={id} name={way.name} label={`New name of ${name}`} refusal={refusal} />}
      {canGo && (isFresh || kind !== "passkey") && (
        <form class="row row-tight" method="post" action="/settings/account">
          <ActField value="remove-way" />
          <input type="hidden" name="id" value={id} />
          <Button size="small" look="ghost" aria-label={`Remove ${name}`}>
            Remove
          </Button>
        </form>
      )}
    </li>
  );
}

function Rename({ id, name, label, refusal }: RenameProps) {
  const refused = refusal?.act === "rename-way" && refusal.value("id") === id ? refusal : undefined;
  return (
    <div class="way-rename">
      <Disclosure summary="Rename" open={refused !== undefined}>
        <form class="row row-tight" method="post" action="/settings/account">
          <ActField value="rename-way" />
          <input type="hidden" name="id" value={id} />
          <input
            class="input input-sm"
            name="name"
            value={refused?.value("name") ?? name}
            aria-label={label}
            required
            maxLength={passkeyNameMax}
            autocomplete="off"
          />
          <Button size="small">Rename</Button>
        </form>
      </Disclosure>
    </div>
  );
}

interface RenameProps {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly refusal: Refusal | undefined;
}
