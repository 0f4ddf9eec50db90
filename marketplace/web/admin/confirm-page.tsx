/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../shared/page/button.tsx";
import { TextField } from "../../../shared/page/field.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { confirmedMinutes, confirmOperator } from "../../admin/confirm.ts";
import type { Sealer } from "../../sealing.ts";
import { nextOf } from "../../sign-in/enter.ts";
import { hasPasskey } from "../../sign-in/passkey-presence.ts";
import { isForForm, Refusal } from "../console/refusal.ts";
import { RefusedNote } from "../console/refused-note.tsx";
import { confirmPath } from "../layout.tsx";
import type { Page, View } from "../page.ts";
import { PasskeyWay } from "../pages/sign-in-forms.tsx";
import { SignInBox } from "../sign-in-box.tsx";
import { operatorAt } from "./operator-page.tsx";

interface Needs {
  readonly db: Database;
  readonly sealer: Sealer;
}

/** Where an operator shows a code of their authenticator, or a passkey of their account. */
export function confirmOperatorPage({ db, sealer }: Needs): Page {
  return {
    path: confirmPath,
    scriptBytesMax: 4_096,
    isPrivate: true,
    show: async (visit) => {
      await operatorAt(db, visit);
      return viewOf(nextOf(visit.query.get("next"), "/admin"), await hasPasskey(db, visit.viewer!.session));
    },
    submit: {
      bytesMax: 4_096,
      take: async (visit, form) => {
        await operatorAt(db, visit);
        const { session } = visit.viewer!;
        const next = nextOf(form.get("next"), "/admin");
        try {
          await confirmOperator({ db, sealer }, session, form.get("code") ?? "");
          return { redirect: next };
        } catch (error) {
          if (!isForForm(error)) throw error;
          return viewOf(next, await hasPasskey(db, session), new Refusal(error, "confirm", form));
        }
      },
    },
  };
}

function viewOf(next: string, takesPasskey: boolean, refusal?: Refusal): View {
  return {
    title: "Show that it is you",
    islands: takesPasskey ? ["confirm-passkey.js"] : [],
    isPrivate: true,
    status: refusal?.error.status,
    headers: { ...refusal?.error.headers, "cache-control": "no-store" },
    body: (
      <SignInBox
        title="Show that it is you"
        lede={`What operators do is open for ${confirmedMinutes} minutes after a ${takesPasskey ? "passkey or a " : ""}code of your authenticator.`}
      >
        <RefusedNote refusal={refusal} fields={["code"]} />
        <form class="stack" method="post" action={confirmPath} data-busy="Checking">
          <input type="hidden" name="next" value={next} />
          <TextField
            id="code"
            name="code"
            label="Code"
            inputMode="numeric"
            autocomplete="one-time-code"
            pattern="[0-9 ]{6,7}"
            title="Six digits"
            maxLength={7}
            required
            autofocus
            help="Six digits. Each code is taken once."
            error={refusal?.at("code")}
          />
          <Button look="primary" size="large" block>
            Confirm
          </Button>
        </form>
        {takesPasskey && <PasskeyWay next={next} label="Confirm with a passkey" hasOr />}
        <p class="small dim">Lost your authenticator? The person who runs this service gives you a new secret.</p>
      </SignInBox>
    ),
  };
}
