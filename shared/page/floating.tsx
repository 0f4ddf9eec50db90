/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.tsx";

/** Where short messages appear while the page is read; islands put them there. */
export function Toasts() {
  return <div class="toasts" id="toasts" role="status" aria-live="polite" />;
}

export function Toast({ icon = "info", children }: { icon?: IconName; children: ComponentChildren }) {
  return (
    <div class="toast">
      <Icon name={icon} />
      <span class="grow">{children}</span>
      <Button look="ghost" size="small" icon="close" type="button" data-close="" aria-label="Close" />
    </div>
  );
}

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

/** Grey where a result of the same size will be. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div class="stack stack-2" aria-hidden="true">
      <div class="skel skel-title" />
      {Array.from({ length: lines }, (_line, at) => (
        <div class={at % 2 === 0 ? "skel skel-2" : "skel skel-3"} />
      ))}
    </div>
  );
}
