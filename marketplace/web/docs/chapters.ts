/** The documentation's pages, in the order in which they are read. `file` is one of pages/; a page without one is made otherwise. */
export const chapters = [
  {
    title: "Start",
    pages: [
      { slug: "", title: "What this is", file: "start.md" },
      { slug: "first-run", title: "Your first run", file: "first-run.md" },
      { slug: "keys", title: "Keys and caps", file: "keys.md" },
    ],
  },
  {
    title: "Run agents",
    pages: [
      { slug: "api", title: "REST API", file: undefined },
      { slug: "per-call", title: "Per call by x402", file: "per-call.md" },
      { slug: "mcp", title: "MCP", file: "mcp.md" },
      { slug: "errors", title: "Errors", file: "errors.md" },
      { slug: "retries", title: "Retries", file: "retries.md" },
    ],
  },
  {
    title: "Publish",
    pages: [
      { slug: "publishing", title: "Publish an agent", file: "publishing.md" },
      { slug: "connectors", title: "Connectors", file: "connectors.md" },
      { slug: "payout-wallets", title: "Payout wallets", file: "payout-wallets.md" },
    ],
  },
  {
    title: "Reference",
    pages: [
      { slug: "networks", title: "Networks", file: "networks.md" },
      { slug: "limits", title: "Limits", file: "limits.md" },
    ],
  },
] as const satisfies readonly Chapter[];

interface Chapter {
  readonly title: string;
  readonly pages: readonly ChapterPage[];
}

export interface ChapterPage {
  readonly slug: string;
  readonly title: string;
  readonly file: string | undefined;
}

/** Every page with its chapter, in order. */
export const docsPages: ReadonlyArray<ChapterPage & { readonly chapter: string }> = chapters.flatMap(
  ({ title, pages }) => pages.map((page) => ({ ...page, chapter: title })),
);

export const docsPath = (slug: string): string => (slug === "" ? "/docs" : `/docs/${slug}`);
