/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { Heading } from "../../../shared/page/markdown.tsx";
import { chapters, docsPath } from "./chapters.ts";
import type { Operation } from "./operations.ts";

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

/** The operations of one chapter of the API, beside one of them. */
export function OperationNav({ operations, here }: { operations: readonly Operation[]; here: Operation }) {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return (
    <nav class="side" aria-label="Operations">
      <ul>
        <li>
          <a href="/docs/api">All operations</a>
        </li>
      </ul>
      {tags.map((tag) =>
        tag === here.tag ? (
          <>
            <p class="side-title">{tag}</p>
            <ul>
              {operations
                .filter((operation) => operation.tag === tag)
                .map((operation) => (
                  <li>
                    <a href={`/docs/api/${operation.id}`} aria-current={operation.id === here.id ? "page" : undefined}>
                      <span class="verb verb-sm">{operation.method === "DELETE" ? "DEL" : operation.method}</span>
                      <code>{shortPath(operation.path)}</code>
                    </a>
                  </li>
                ))}
            </ul>
          </>
        ) : null,
      )}
      <p class="side-title">Others</p>
      <ul>
        {tags
          .filter((tag) => tag !== here.tag)
          .map((tag) => (
            <li>
              <a href={`/docs/api#${anchorOf(tag)}`}>{tag}</a>
            </li>
          ))}
      </ul>
    </nav>
  );
}

const shortPath = (path: string) => path.replace(/^\/api(\/v1)?(\/account)?(?=\/)/, "");
const anchorOf = (tag: string) => tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
