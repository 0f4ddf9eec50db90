/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";

/** A question that stops everything else. Opened by a button with `data-dialog={id}`, closed by Escape or `data-close`. */
export function Dialog({ id, title, children, actions }: DialogProps) {
  return (
    <dialog class="dialog" id={id} aria-labelledby={`${id}-title`}>
      <div class="dialog-body">
        <h2 id={`${id}-title`}>{title}</h2>
        {children}
      </div>
      <div class="dialog-foot">{actions}</div>
    </dialog>
  );
}

interface DialogProps {
  readonly id: string;
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  /** The way out first, the act last. */
  readonly actions: ComponentChildren;
}
