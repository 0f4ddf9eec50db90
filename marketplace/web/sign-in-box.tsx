/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";

/** A narrow page for one thing: signing in, showing that it is you. */
export function SignInBox({ title, lede, children }: BoxProps) {
  return (
    <div class="sign">
      <div class="sign-box">
        <div class="stack stack-2">
          <h1>{title}</h1>
          {lede && <p class="small dim">{lede}</p>}
        </div>
        {children}
      </div>
    </div>
  );
}

interface BoxProps {
  readonly title: string;
  readonly lede?: string;
  readonly children: ComponentChildren;
}
