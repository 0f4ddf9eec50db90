/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Button } from "../../../shared/page/button.tsx";
import { CodeTabs } from "../../../shared/page/code-tabs.tsx";
import { Choice } from "../../../shared/page/field.tsx";
import { Icon } from "../../../shared/page/icon.tsx";

/**
 * A secret in the only answer that ever holds it: that of the form which asked for it, and not of the page after a redirect. The form
 * carries an id made when it was shown, so that a reload makes no second one. `done` is where its reader goes on to.
 */
export function ShownOnce({ title, said, label, secret, samples, done, children }: ShownOnceProps) {
  return (
    <section class="once" aria-labelledby="once-title">
      <div class="once-head">
        <Icon name="key" />
        <div>
          <h2 id="once-title">{title}</h2>
          <p class="small dim">{said}</p>
        </div>
      </div>
      <div class="card-body stack">
        <div class="once-key">
          <output aria-label={label}>{secret}</output>
          <Button type="button" icon="copy" data-copy={secret} hidden>
            Copy
          </Button>
        </div>
        {samples.length > 0 && <CodeTabs id="once-samples" label="Use it in" tabs={samples} />}
        {children}
        <form class="row between row-4" method="get" action={done}>
          <Choice label="I have stored it" required />
          <Button look="primary">Done</Button>
        </form>
      </div>
    </section>
  );
}

interface ShownOnceProps {
  readonly title: string;
  readonly said: ComponentChildren;
  /** What it is, for screen readers: `New API key`. */
  readonly label: string;
  readonly secret: string;
  /** Ready to be pasted where it goes. */
  readonly samples: ReadonlyArray<{ readonly name: string; readonly children: ComponentChildren }>;
  readonly done: string;
  readonly children?: ComponentChildren;
}
