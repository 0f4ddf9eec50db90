/** @jsxRuntime automatic @jsxImportSource preact */
import { GoLink } from "../../../shared/page/button.tsx";
import { loadHighlighter } from "../../../shared/page/highlight.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import { headingsOf, Markdown } from "../../../shared/page/markdown.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import type { Operation } from "../../../shared/reference/operations.ts";
import { docsPages, docsPath } from "../docs/chapters.ts";
import { DocsLayout } from "../docs/layout.tsx";
import { operationIndex } from "../docs/operation-markdown.ts";
import { type DocsFacts, docsText } from "../docs/texts.ts";
import type { Page, View } from "../page.ts";

type DocsPage = (typeof docsPages)[number];

/** The documentation: each page is Markdown, which its twin serves as it is. */
export function documentationPages(facts: DocsFacts, operations: () => readonly Operation[]): Page[] {
  return docsPages.map((page) => ({
    path: docsPath(page.slug),
    scriptBytesMax: 4_096,
    show: async () => {
      await loadHighlighter();
      const text = page.file === undefined ? operationIndex(operations()) : await docsText(facts, page.file);
      return viewOf(page, text);
    },
  }));
}

function viewOf(page: DocsPage, text: string): View {
  const { title, rest, lede } = split(text);
  const path = docsPath(page.slug);
  return {
    title: page.slug === "" ? "Documentation" : title,
    description: lede.replaceAll(/[`*]|\[|\]\([^)]*\)/g, "").slice(0, 300),
    alternates: [{ type: "text/markdown", href: `${path}.md` }],
    type: "article",
    body: (
      <DocsLayout here={path} contents={headingsOf(rest)}>
        <div class="page-head">
          {page.slug !== "" && <Crumbs trail={[{ href: "/docs", label: "Docs" }]} here={page.title} />}
          <h1>{title}</h1>
          <div class="lede">
            <Markdown text={lede} />
          </div>
          <p class="row row-4 small faint">
            <span>{minutesOf(text)}</span>
            <a class="link" href={`${path}.md`}>
              As Markdown
            </a>
          </p>
        </div>
        <Markdown text={rest} />
        <Neighbours page={page} />
      </DocsLayout>
    ),
  };
}

/** The title, the paragraph after it, and all the rest. */
function split(text: string): { title: string; lede: string; rest: string } {
  const [, title = "", lede = "", rest = ""] = /^# (.+)\n\n([\s\S]+?)(?:\n\n([\s\S]*))?$/.exec(text.trim()) ?? [];
  return { title, lede, rest };
}

function minutesOf(text: string): string {
  const minutes = Math.max(1, Math.round(text.split(/\s+/).length / 220));
  return `${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
}

function Neighbours({ page }: { page: DocsPage }) {
  const index = docsPages.findIndex(({ slug }) => slug === page.slug);
  const [before, after] = [docsPages[index - 1], docsPages[index + 1]];
  return (
    <div class="row between row-4">
      {before ? (
        <a class="go" href={docsPath(before.slug)}>
          <Icon name="arrow-left" /> {before.title}
        </a>
      ) : (
        <span />
      )}
      {after && <GoLink href={docsPath(after.slug)}>{after.title}</GoLink>}
    </div>
  );
}
