/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import type { Assets } from "./assets.ts";

export type Theme = "light" | "dark";

/** What stands in the head of a page. Addresses are whole URLs. */
export interface Head {
  readonly title: string;
  readonly description?: string | undefined;
  readonly canonical?: string | undefined;
  /** Kept out of search engines. */
  readonly isPrivate?: boolean | undefined;
  readonly openGraph?: OpenGraph | undefined;
  /** Structured data for search engines. */
  readonly jsonLd?: object | undefined;
  /** The page's content in other forms. */
  readonly alternates?: ReadonlyArray<{ readonly type: string; readonly href: string }> | undefined;
}

interface OpenGraph {
  readonly siteName: string;
  readonly type?: "website" | "article" | "profile" | undefined;
  readonly image?: { readonly url: string; readonly width: number; readonly height: number; readonly alt: string };
}

interface Shell {
  readonly head: Head;
  readonly assets: Assets;
  /** The stylesheet and the islands, by the names of their sources: `site.css`, `theme.js`. */
  readonly stylesheet: string;
  readonly islands: readonly string[];
  /** What the person chose; the system's choice when left out. */
  readonly theme?: Theme | undefined;
  readonly body: ComponentChildren;
}

/** The whole document. Everything in it that a person wrote is escaped. */
export function renderDocument(shell: Shell): string {
  return `<!doctype html>${renderToString(<Document {...shell} />)}`;
}

function Document({ head, assets, stylesheet, islands, theme, body }: Shell) {
  return (
    <html lang="en" data-theme={theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{head.title}</title>
        <meta name="color-scheme" content={theme ?? "light dark"} />
        <link rel="preload" href={assets.url(textFont)} as="font" type="font/woff2" crossorigin="anonymous" />
        <link rel="stylesheet" href={assets.url(stylesheet)} />
        <link rel="icon" href={assets.url("icon.svg")} type="image/svg+xml" />
        {islands.map((name) => (
          <script type="module" src={assets.url(name)} />
        ))}
        {[...new Set(islands.flatMap((name) => assets.importsOf(name)))].map((url) => (
          <link rel="modulepreload" href={url} />
        ))}
        <Described {...head} />
      </head>
      <body>{body}</body>
    </html>
  );
}

const textFont = "geist-latin-wght-normal.woff2";

function Described({ title, description, canonical, isPrivate, openGraph, jsonLd, alternates = [] }: Head) {
  return (
    <>
      {description && <meta name="description" content={description} />}
      {isPrivate && <meta name="robots" content="noindex" />}
      {canonical && <link rel="canonical" href={canonical} />}
      {alternates.map(({ type, href }) => (
        <link rel="alternate" type={type} href={href} />
      ))}
      {openGraph && <Shared title={title} description={description} url={canonical} {...openGraph} />}
      {jsonLd && <JsonLd data={jsonLd} />}
    </>
  );
}

/** How a link to the page looks where people share it. */
function Shared({ title, description, url, siteName, type = "website", image }: SharedProps) {
  return (
    <>
      <meta property="og:title" content={title} />
      <meta property="og:type" content={type} />
      <meta property="og:site_name" content={siteName} />
      {url && <meta property="og:url" content={url} />}
      {description && <meta property="og:description" content={description} />}
      {image && (
        <>
          <meta property="og:image" content={image.url} />
          <meta property="og:image:width" content={String(image.width)} />
          <meta property="og:image:height" content={String(image.height)} />
          <meta property="og:image:alt" content={image.alt} />
          <meta name="twitter:card" content="summary_large_image" />
        </>
      )}
    </>
  );
}

interface SharedProps extends OpenGraph {
  readonly title: string;
  readonly description: string | undefined;
  readonly url: string | undefined;
}

/** A data block: browsers do not run it, so that no policy stops it. Nothing in it can end the element. */
function JsonLd({ data }: { data: object }) {
  const text = JSON.stringify(data).replaceAll("<", "\\u003c");
  return <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: text }} />;
}
