/** @jsxRuntime automatic @jsxImportSource preact */
import { loadHighlighter } from "../../../shared/page/highlight.tsx";
import { Markdown } from "../../../shared/page/markdown.tsx";
import { siteName } from "../brand.tsx";
import type { OperatorTexts } from "../operator-texts.ts";
import type { Page } from "../page.ts";

const titles: Readonly<Record<keyof OperatorTexts, string>> = {
  terms: "Terms",
  privacy: "Privacy",
  imprint: "Imprint",
};

/** The operator's terms, privacy notice and imprint: those of them that there are. Nothing links to the others. */
export function operatorPages(texts: OperatorTexts): Page[] {
  return (Object.keys(titles) as (keyof OperatorTexts)[]).flatMap((name) => {
    const text = texts[name];
    return text === undefined ? [] : [pageOf(name, text)];
  });
}

function pageOf(name: keyof OperatorTexts, text: string): Page {
  const [, ownTitle] = /^# (.+)$/m.exec(text) ?? [];
  return {
    path: `/${name}`,
    scriptBytesMax: 4_096,
    show: async () => {
      await loadHighlighter();
      return {
        title: titles[name],
        description: `${titles[name]} of ${siteName}, by its operator.`,
        type: "article",
        body: (
          <div class="wrap page">
            <article class="prose">
              {!ownTitle && <h1>{titles[name]}</h1>}
              <Markdown text={text} />
            </article>
          </div>
        ),
      };
    },
  };
}
