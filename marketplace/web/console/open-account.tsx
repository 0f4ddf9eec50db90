/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../shared/page/button.tsx";
import { TextField } from "../../../shared/page/field.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { openAccountFor } from "../../accounts/users.ts";
import { admitOrRefuse } from "../../admit-or-refuse.ts";
import { nextOf } from "../../sign-in/enter.ts";
import { openAccountPath, signInPath } from "../layout.tsx";
import type { Page, View } from "../page.ts";
import { SignInBox } from "../sign-in-box.tsx";
import type { Viewer } from "../viewer.ts";
import { keptForm, signedOut } from "./kept-form.tsx";
import { isForForm, Refusal } from "./refusal.ts";
import { RefusedNote } from "./refused-note.tsx";

/** Opens an account for a person who signed in for the first time. One who signed in by wallet alone is told what it needs. */
export function openAccountPage({ db }: { readonly db: Database }): Page {
  return {
    path: openAccountPath,
    scriptBytesMax: 4_096,
    isPrivate: true,
    show: ({ viewer, query }) => {
      const next = nextOf(query.get("next"));
      if (!viewer) return { redirect: signInPath(`${openAccountPath}?next=${encodeURIComponent(next)}`) };
      if (viewer.account) return { redirect: next };
      return viewOf(viewer, next);
    },
    submit: {
      bytesMax: 4_096,
      take: async ({ viewer }, form) => {
        const next = nextOf(form.get("next"));
        if (!viewer) return keptForm({ path: openAccountPath, form, ...signedOut(openAccountPath) });
        if (viewer.account) return { redirect: next };
        try {
          await admitOrRefuse(db, `session:${viewer.session.userId}`, opensPerMinute);
          await openAccountFor(db, viewer.session, form.get("handle") ?? "");
          return { redirect: next };
        } catch (error) {
          if (!isForForm(error)) throw error;
          return viewOf(viewer, next, new Refusal(error, "open", form));
        }
      },
    },
  };
}

const opensPerMinute = 30;

function viewOf({ session }: Viewer, next: string, refusal?: Refusal): View {
  return {
    title: "Open your account",
    isPrivate: true,
    status: refusal?.error.status,
    headers: { ...refusal?.error.headers, "cache-control": "no-store" },
    body: session.email ? (
      <HandleForm email={session.email} next={next} refusal={refusal} />
    ) : (
      <NoAddress next={next} />
    ),
  };
}

function HandleForm({ email, next, refusal }: { email: string; next: string; refusal: Refusal | undefined }) {
  return (
    <SignInBox title="Open your account" lede={`You are signed in as ${email}. Choose the name of your account.`}>
      <RefusedNote refusal={refusal} fields={["handle"]} />
      <form class="stack" method="post" action={openAccountPath} data-busy="Opening">
        <input type="hidden" name="next" value={next} />
        <TextField
          id="handle"
          name="handle"
          label="Handle"
          autocomplete="username"
          placeholder="ada"
          required
          autofocus
          minLength={3}
          maxLength={30}
          pattern="[A-Za-z0-9][A-Za-z0-9\-]{1,28}[A-Za-z0-9]"
          title="3 to 30 of a-z, 0-9 and -, neither first nor last a -"
          spellcheck={false}
          value={refusal?.value("handle")}
          help="3 to 30 of a-z, 0-9 and hyphen. It is public: your agents are at its address. It can be changed later."
          error={refusal?.at("handle")}
        />
        <Button look="primary" size="large" block>
          Open account
        </Button>
      </form>
      <form method="post" action="/sign-out">
        <Button look="ghost" block>
          Sign out
        </Button>
      </form>
    </SignInBox>
  );
}

/** A wallet proves no address that could be written to, so it opens no account. */
function NoAddress({ next }: { next: string }) {
  return (
    <SignInBox
      title="An account needs an e-mail address"
      lede="You are signed in with a wallet alone. With it you can browse and pay for each call. Keys, credits and agents of your own belong to an account."
    >
      <form class="stack" method="post" action="/sign-out">
        <input type="hidden" name="next" value={signInPath(next)} />
        <Button look="primary" size="large" block>
          Sign in another way
        </Button>
      </form>
      <p class="small dim">Nothing that you paid for with the wallet is lost by it.</p>
    </SignInBox>
  );
}
