/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { Heading } from "../../../shared/page/markdown.tsx";
import { chapters, docsPath } from "./chapters.ts";

/** A page of the documentation between its two lists: all pages, and what stands on this one. */
export function DocsLayout({ here, contents, children }: DocsLayoutProps) {
  return (
    <div class="wrap page">
      <div class="docs docs-3">
        <ChapterNav here={here} />
        <article class="prose">{children}</article>
        <nav class="toc" aria-label="On this page">
          <span class="label">On this page</span>
          {contents
            .filter(({ depth }) => depth === 2)
            .map(({ id, text }) => (
              <a href={`#${id}`}>{text}</a>
            ))}
          <hr />
          <a href="/llms.txt">llms.txt</a>
        </nav>
      </div>
    </div>
  );
}

interface DocsLayoutProps {
  /** The page's path. */
  readonly here: string;
  readonly contents: readonly Heading[];
  readonly children: ComponentChildren;
}

function ChapterNav({ here }: { here: string }) {
  return (
    <nav class="side" aria-label="Documentation">
      {chapters.map(({ title, pages }) => (
        <>
          <p class="side-title">{title}</p>
          <ul>
            {pages.map(({ slug, title: name }) => (
              <li>
                <a href={docsPath(slug)} aria-current={docsPath(slug) === here ? "page" : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </>
      ))}
      <ul>
        <li>
          <a href="/api/v1/openapi.json">OpenAPI 3.1</a>
        </li>
      </ul>
    </nav>
  );
}
