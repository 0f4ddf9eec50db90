import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { marketplaceEndpoints } from "../../marketplace/endpoints.ts";
import { createSite } from "../../marketplace/web/serve.ts";
import { marketTest } from "../support/fixtures.ts";

const seen = new Map<string, Seen>();

interface Seen {
  readonly status: number;
  readonly from: string;
  readonly html: string;
}

/** Everything that a visitor can reach by links from the first page. */
const test = marketTest();
test.beforeAll(async ({ market, seeded: _ }) => {
  const waiting = [{ path: "/", from: "" }];
  for (const { path, from } of waiting) {
    if (seen.has(path)) continue;
    const answer = await fetch(market.url + path, { headers: { accept: "text/html,*/*;q=0.8" } });
    const isPage = answer.headers.get("content-type")?.startsWith("text/html") ?? false;
    const html = isPage ? await answer.text() : "";
    if (!isPage) await answer.body?.cancel();
    seen.set(path, { status: answer.status, from, html });
    if (seen.size > pagesMax) throw new Error(`more than ${pagesMax} pages; is one of them without an end?`);
    for (const [, href] of html.matchAll(/<a [^>]*?href="(\/[^"#]*)[^"]*"/g)) {
      waiting.push({ path: (href as string).replaceAll("&amp;", "&"), from: path });
    }
  }
});

const pagesMax = 1_000;

test("no link of any page leads to nothing", () => {
  expect(seen.size).toBeGreaterThan(20);
  const dead = [...seen].filter(([, { status }]) => status !== 200);
  expect(dead.map(([path, { status, from }]) => `${from} → ${path}: ${status}`)).toEqual([]);
});

test("a link to a part of a page leads to something on it", () => {
  const missing = [...seen].flatMap(([path, { html }]) => {
    const links = [...html.matchAll(/<a [^>]*?href="(\/[^"#?]*)?#([^"]+)"/g)];
    return links.flatMap(([, target = path, id]) =>
      seen.get(target)?.html.includes(` id="${id}"`) ? [] : [`${path} → ${target}#${id}`],
    );
  });
  expect(missing).toEqual([]);
});

test("every page loads no more JavaScript than its budget", async ({ market }) => {
  const { pages } = createSite(market.context, marketplaceEndpoints(market.context));
  const weights = new Map<string, number>();
  const weightOf = async (url: string) => {
    const known = weights.get(url);
    if (known !== undefined) return known;
    const script = await (await fetch(market.url + url)).arrayBuffer();
    const weight = gzipSync(Buffer.from(script), { level: 9 }).length;
    weights.set(url, weight);
    return weight;
  };
  for (const [path, { html }] of seen) {
    const page = pages.find((one) => matcherOf(one.path).test(path.split("?")[0] as string));
    if (!page || html === "") continue;
    const scripts = [...html.matchAll(/(?:<script[^>]* src|<link rel="modulepreload" href)="(\/assets\/[^"]+)"/g)];
    let bytes = 0;
    for (const url of new Set(scripts.map(([, url]) => url as string))) bytes += await weightOf(url);
    expect(bytes, `${path} of ${page.path}`).toBeLessThanOrEqual(page.scriptBytesMax);
  }
});

test("every page has one heading of the first level, a title, and a description where search engines may list it", () => {
  for (const [path, { html }] of seen) {
    if (html === "") continue;
    expect(html.match(/<h1[ >]/g), path).toHaveLength(1);
    expect(html, path).toMatch(/<title>[^<]{3,}<\/title>/);
    if (!html.includes('content="noindex"')) expect(html, path).toContain('<meta name="description"');
  }
});

const matcherOf = (path: string) =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
