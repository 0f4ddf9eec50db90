/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Disclosure } from "../../../../shared/page/disclosure.tsx";
import { changeMinutes } from "../../../sign-in/email-change.ts";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";

/** Asks for another address; nothing changes before the link that is sent there is followed. */
export function ChangeEmail({ refusal }: { refusal: Refusal | undefined }) {
  const refused = refusal?.act === "change-email" ? refusal : undefined;
  const error = refused?.at("email");
  return (
    <Disclosure summary="Change" open={refused !== undefined}>
      <form class="stack stack-2 measure" method="post" action="/settings/account" data-busy="Sending">
        <ActField value="change-email" />
        <div class="row row-tight">
          <input
            class="input input-sm"
            name="email"
            type="email"
            aria-label="New e-mail address"
            aria-describedby={error ? "email-change-error email-change-help" : "email-change-help"}
            aria-invalid={error ? "true" : undefined}
            value={refused?.value("email")}
            placeholder="you@company.com"
            maxLength={254}
            required
            autocomplete="email"
          />
          <Button size="small">Send link</Button>
        </div>
        {error && (
          <p class="error" role="alert" id="email-change-error">
            {error}
          </p>
        )}
        <p class="help" id="email-change-help">
          A link goes there. The address changes when it is followed, and this address is told.
        </p>
      </form>
    </Disclosure>
  );
}

export function LinkSent({ email, link }: { email: string; link: string | undefined }) {
  return (
    <>
      <Callout
        tone="info"
        icon="mail"
        role="status"
        title={link === undefined ? "The link is on its way" : "Development: no mail server here"}
      >
        {link === undefined ? (
          <>
            It goes to <span class="mono">{email}</span>.{" "}
          </>
        ) : (
          <>
            The link for <span class="mono">{email}</span> is{" "}
            <a class="link" href={link}>
              open this link
            </a>
            .{" "}
          </>
        )}
        It holds for {changeMinutes} minutes, as long as you stay signed in here. Until it is followed, nothing changes.
      </Callout>
      <div class="row">
        <ButtonLink href="/settings/account">Back</ButtonLink>
      </div>
    </>
  );
}
