/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import type { Widening } from "../../../shared/page/policy.ts";
import { signInPath } from "../layout.tsx";
import type { View } from "../page.ts";
import { SignInBox } from "../sign-in-box.tsx";

export interface KeptForm {
  /** The page's own path, to which it was posted. */
  readonly path: string;
  readonly form: URLSearchParams;
  readonly title: string;
  /** Why it was not taken. */
  readonly lede: string;
  /** Where its sender shows again who they are. */
  readonly way: { readonly href: string; readonly label: string };
  /** Where the form leads beside our own pages. */
  readonly widening?: Widening | undefined;
}

export const signedOut = (path: string) => ({
  title: "You are signed out",
  lede: "Your session ended, here or in another tab.",
  way: { href: signInPath(path), label: "Sign in" },
});

/** Shown for a form whose sender has to show first who they are: what it holds waits on this page, and is sent again from it. */
export function keptForm({ path, form, title, lede, way, widening }: KeptForm): View {
  return {
    title,
    status: 401,
    isPrivate: true,
    headers: { "cache-control": "no-store" },
    widening,
    body: (
      <SignInBox title={title} lede={lede}>
        <p>Nothing was changed. What you entered is kept on this page while it is open.</p>
        <ButtonLink look="primary" size="large" block href={way.href} target="_blank">
          1. {way.label} in a new tab
        </ButtonLink>
        <form method="post" action={path} data-busy="Sending">
          {[...form].map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <Button size="large" block>
            2. Send it again
          </Button>
        </form>
      </SignInBox>
    ),
  };
}
