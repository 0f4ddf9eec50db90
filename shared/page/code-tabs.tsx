/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Copy } from "./copy.tsx";

/** One piece of code in several languages, one of which is shown: by radios, so that it works without JavaScript. At most six. */
export function CodeTabs({ id, label = "Language", tabs }: CodeTabsProps) {
  return (
    <div class="code">
      <div class="code-head">
        <div class="code-langs" role="radiogroup" aria-label={label}>
          {tabs.map(({ name }, index) => (
            <label>
              <input type="radio" class={`lang-${index + 1}`} name={id} checked={index === 0} />
              {name}
            </label>
          ))}
        </div>
        <Copy label="Copy the code that is shown" of={id} />
      </div>
      <div id={id}>
        {tabs.map(({ children }, index) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
          <pre class={`code-${index + 1}`} tabIndex={0}>
            <code>{children}</code>
          </pre>
        ))}
      </div>
    </div>
  );
}

interface CodeTabsProps {
  readonly id: string;
  readonly label?: string;
  readonly tabs: ReadonlyArray<{ readonly name: string; readonly children: ComponentChildren }>;
}
