/** @jsxRuntime automatic @jsxImportSource preact */

import { Button } from "../../../shared/page/button.tsx";
import { nextOf } from "../../sign-in/enter.ts";
import type { SignIn } from "../../sign-in/sign-in.ts";
import type { Page } from "../page.ts";

/** Ends the session by a form, so that no link or picture elsewhere can. */
export function signOutPage({ signIn }: { readonly signIn: SignIn }): Page {
  return {
    path: "/sign-out",
    scriptBytesMax: 2_048,
    show: ({ viewer }) =>
      viewer ? { title: "Sign out", isPrivate: true, body: <Confirmation /> } : { redirect: "/sign-in" },
    submit: {
      bytesMax: 1_024,
      take: async ({ request, response, viewer }, form) => {
        if (viewer) await signIn.sessions.close(request, response, viewer.session, false);
        return { redirect: nextOf(form.get("next"), "/") };
      },
    },
  };
}

function Confirmation() {
  return (
    <div class="sign">
      <div class="sign-box">
        <h1>Sign out</h1>
        <form method="post" action="/sign-out">
          <Button look="primary" size="large" block>
            Sign out
          </Button>
        </form>
      </div>
    </div>
  );
}
