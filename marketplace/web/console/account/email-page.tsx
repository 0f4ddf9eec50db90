/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../../shared/errors.ts";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import type { Config } from "../../../config.ts";
import { changeEmail, changePath, readChange } from "../../../sign-in/email-change.ts";
import { admitFrom } from "../../../sign-in/enter.ts";
import type { Page, View } from "../../page.ts";
import { SignInBox } from "../../sign-in-box.tsx";

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
}

/** What the link that is sent to a new address opens. It changes nothing by being loaded, since mail scanners load it too. */
export function changeEmailPage({ db, config }: Needs): Page {
  return {
    path: changePath,
    scriptBytesMax: 4_096,
    isPrivate: true,
    show: ({ query }) => orWhyNot(() => askedBy(db, query.get("token") ?? "")),
    submit: {
      bytesMax: 4_096,
      take: async ({ request }, form) => {
        await admitFrom(db, request);
        return orWhyNot(async () => {
          const { email } = await changeEmail(db, config.publicUrl, form.get("token") ?? "");
          return viewOf(<Changed email={email} />);
        });
      },
    },
  };
}

async function askedBy(db: Database, token: string): Promise<View> {
  const { email, isDone } = await readChange(db, token);
  return viewOf(isDone ? <Changed email={email} /> : <Asked token={token} email={email} />);
}

async function orWhyNot(show: () => Promise<View>): Promise<View> {
  try {
    return await show();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return { ...viewOf(<NotChanged why={error.message} />), status: error.status };
  }
}

function viewOf(body: View["body"]): View {
  return { title: "Your new address", isPrivate: true, headers: { "cache-control": "no-store" }, body };
}

function Asked({ token, email }: { token: string; email: string }) {
  return (
    <SignInBox
      title="Your new address"
      lede="From now on links and alerts come here, and no longer to the address before."
    >
      <p>
        The address is <b class="strong">{email}</b>.
      </p>
      <form method="post" action={changePath}>
        <input type="hidden" name="token" value={token} />
        <Button look="primary" size="large" block>
          Use this address
        </Button>
      </form>
    </SignInBox>
  );
}

function Changed({ email }: { email: string }) {
  return (
    <SignInBox title="Your new address">
      <Callout tone="ok" role="status" title="The address is changed">
        Your account is entered by <span class="mono">{email}</span>. The address before is told.
      </Callout>
      <ButtonLink href="/settings/account">To your account</ButtonLink>
    </SignInBox>
  );
}

function NotChanged({ why }: { why: string }) {
  return (
    <SignInBox title="Your new address">
      <Callout tone="bad" role="alert" title="The address is not changed">
        {why}
      </Callout>
      <ButtonLink href="/settings/account">To your account</ButtonLink>
    </SignInBox>
  );
}
