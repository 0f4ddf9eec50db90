import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { highlightedNow, loadHighlighter } from "../../shared/page/highlight.tsx";
import { headingsOf, Markdown, withoutComments } from "../../shared/page/markdown.tsx";

beforeAll(loadHighlighter);

const html = (text: string) => renderToString(h(Markdown, { text }));

describe("Markdown of whoever wrote it", () => {
  test.each([
    '<script>alert("x")</script>',
    "a <img src=x onerror=alert(1)> b",
    '<iframe src="https://evil.example"></iframe>',
    "<style>* { display: none }</style>",
    "<svg/onload=alert(1)>",
    "| <b onclick=x> |\n|---|\n| <script>x</script> |",
    "> [!NOTE] <script>x</script>\n> <script>x</script>",
    "<!-- --><script>x</script>",
    "```ts\n</code><script>x</script>\n```",
  ])("brings no markup of its own into the page: %s", (text) => {
    expect(html(text)).not.toMatch(/<(script|img|iframe|style|b |svg\/)/);
  });

  test.each([
    "[x](javascript:alert(1))",
    "[x](JavaScript:alert(1))",
    "[x](data:text/html,x)",
    "[x](//evil.example)",
    "[x](vbscript:x)",
    "<javascript:alert(1)>",
    "[x](java&#115;cript:alert(1))",
  ])("links to pages, mail and the web only: %s", (text) => {
    expect(html(text)).not.toContain("href");
  });

  test.each([
    ["[x](/docs)", 'href="/docs"'],
    ["[x](https://example.com)", 'href="https://example.com"'],
    ["<me@example.com>", 'href="mailto:me@example.com"'],
    ["[x](#part)", 'href="#part"'],
  ])("keeps %s", (text, link) => {
    expect(html(text)).toContain(link);
  });

  test("colours code the same however busy the machine is", () => {
    const code = 'const a = { b: "c", d };\nconst e = await f();';
    const calm = renderToString(h("pre", {}, highlightedNow(code, "typescript")));
    let now = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => (now += 10_000));
    try {
      // Other code, for the first is kept.
      const busy = renderToString(h("pre", {}, highlightedNow(code.replace("f()", "g()"), "typescript")));
      expect(busy.replace("g()", "f()")).toBe(calm);
    } finally {
      clock.mockRestore();
    }
  });

  test("takes words that every object has for words", () => {
    expect(html("&constructor; &toString; &amp;")).toBe("<p>&amp;constructor; &amp;toString; &amp;</p>");
    expect(html("> [!constructor] A\n> b")).toContain("<blockquote>");
  });

  test("sets no inline style, also in code", () => {
    expect(html("```ts\nconst a = 1; // one\n```\n\n```sh\ncurl -s x\n```")).not.toContain("style=");
  });
});

describe("the kit's own marks", () => {
  test("code blocks that follow each other with names are tabs, of which radios choose one", () => {
    const tabs = html('```sh tab=curl\na\n```\n\n<!-- run -->\n```ts tab="TypeScript"\nb\n```\n\ntext');
    expect(tabs.match(/type="radio"/g)).toHaveLength(2);
    expect(tabs.match(/class="code"/g)).toHaveLength(1);
    expect(tabs).toContain("<p>text</p>");
  });

  test("a list after the comment is a rail, and a quote with a kind is a callout", () => {
    expect(html("<!-- rail -->\n1. **Quoted** by us\n2. **Settled** to you")).toContain('class="rail rail-h"');
    expect(html("> [!UNKNOWN] Unknown is an answer\n> It can still land.")).toContain("callout-maybe");
  });

  test("comments are in neither the page nor the twin", () => {
    expect(html("<!-- run; prints: x -->\ntext")).toBe("<p>text</p>");
    expect(withoutComments("<!-- run; prints: x -->\n```sh\n<!-- kept in code? -->\n```")).toBe("```sh\n```");
  });

  test("headings have ids that links reach", () => {
    expect(headingsOf("# A\n## What `it` does\n### *Why*").map(({ id }) => id)).toEqual(["a", "what-it-does", "why"]);
  });
});
