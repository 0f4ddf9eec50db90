/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { confirmAt, signInPath } from "../layout.tsx";

/** Leads to a fresh sign-in and back to `path`; an operator, for whom signing in is not enough, to a code or a passkey. `children`: what takes it. */
export function SignInFirst({ isOperator, path, children }: SignInFirstProps) {
  if (isOperator) {
    return (
      <div class="row">
        <p class="small dim">{children}</p>
        <ButtonLink size="small" href={confirmAt(path)}>
          Confirm
        </ButtonLink>
      </div>
    );
  }
  return (
    <form class="row" method="post" action="/sign-out">
      <input type="hidden" name="next" value={signInPath(path)} />
      <p class="small dim">{children}</p>
      <Button size="small">Sign in again</Button>
    </form>
  );
}

interface SignInFirstProps {
  readonly isOperator: boolean;
  readonly path: string;
  readonly children: ComponentChildren;
}
