/** @jsxRuntime automatic @jsxImportSource preact */
import { type ComponentChildren, Fragment } from "preact";
import { Copy } from "../../../shared/page/copy.tsx";
import { highlighted } from "../../../shared/page/highlight.tsx";
import { type LiteralValue, objectLiteral } from "../../../shared/page/literals.ts";
import type { Snippet } from "./snippets.ts";

/** A program whose code around the input is in colours. */
export interface ColouredSnippet extends Omit<Snippet, "before" | "after"> {
  readonly before: ComponentChildren;
  readonly after: ComponentChildren;
}

/** In a shell's quotes the input and what is around it are one text, so there the closing quote is coloured by hand. */
export function coloured(snippets: readonly Snippet[]): Promise<ColouredSnippet[]> {
  return Promise.all(
    snippets.map(async ({ before, after, ...snippet }) => ({
      ...snippet,
      before: await highlighted(before, snippet.language),
      after: snippet.language === "bash" ? await quoted(after) : await highlighted(after, snippet.language),
    })),
  );
}

/** One of several programs, chosen by radio buttons. An island writes the form's input anew into `data-input`. */
export function CodeTabs({ id, snippets, input }: CodeTabsProps) {
  return (
    <div class="code" data-code={id}>
      <div class="code-head">
        <div class="code-langs" role="radiogroup" aria-label="Language">
          {snippets.map(({ title }, at) => (
            <label>
              <input type="radio" class={`lang-${at + 1}`} name={`${id}-language`} checked={at === 0} />
              {title}
            </label>
          ))}
        </div>
        <Copy label="Copy the code" of={`${id}-1`} />
      </div>
      {snippets.map(({ language, before, indent, after }, at) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre class={`code-${at + 1}`} tabIndex={0}>
          <code id={`${id}-${at + 1}`}>
            {before}
            {input && <Input input={input} language={language} indent={indent} />}
            {after}
          </code>
        </pre>
      ))}
    </div>
  );
}

export interface CodeTabsProps {
  readonly id: string;
  readonly snippets: readonly ColouredSnippet[];
  /** Left out where the code takes none. */
  readonly input?: Readonly<Record<string, LiteralValue>>;
}

function Input({
  input,
  language,
  indent,
}: Required<Pick<CodeTabsProps, "input">> & Pick<Snippet, "language" | "indent">) {
  return (
    <span data-input={language} data-indent={indent} class={language === "bash" ? "s" : undefined}>
      {objectLiteral(input, language, indent).map(({ text, isValue }) =>
        isValue ? <span class="yours">{text}</span> : <Fragment>{text}</Fragment>,
      )}
    </span>
  );
}

async function quoted(text: string): Promise<ComponentChildren> {
  const end = text.indexOf("'") + 1;
  return (
    <>
      <span class="s">{text.slice(0, end)}</span>
      {await highlighted(text.slice(end), "bash")}
    </>
  );
}
