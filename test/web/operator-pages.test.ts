import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { readConfig } from "../../marketplace/config.ts";
import { marketTest } from "../support/fixtures.ts";
import type { TestMarketplace } from "../support/marketplace.ts";
import { perFile } from "../support/part.ts";

const test = marketTest().extend("options", perFile, async ({ directory }) => {
  const terms = "# Terms of use\n\nBe *kind*. <script>alert(1)</script>\n\n## Law\n\n[x](javascript:alert(1))";
  await writeFile(join(directory, "terms.md"), terms);
  await writeFile(join(directory, "imprint.txt"), "Some Company\nA street");
  return { env: { TERMS_FILE: join(directory, "terms.md"), IMPRINT_FILE: join(directory, "imprint.txt") } };
});

async function page(market: TestMarketplace, path: string): Promise<{ status: number; html: string }> {
  const answer = await fetch(market.url + path, { headers: { accept: "text/html" } });
  return { status: answer.status, html: await answer.text() };
}

describe("the operator's own pages", () => {
  test("are shown as Markdown, with no markup of their own", async ({ market }) => {
    const { status, html } = await page(market, "/terms");
    expect(status).toBe(200);
    expect(html).toContain("<h1>Terms of use</h1>");
    expect(html).toContain("<em>kind</em>");
    expect(html).toContain("&lt;script>");
    expect(html).not.toMatch(/<script>|javascript:/);
  });

  test("have a heading also where the file is plain text, and its lines", async ({ market }) => {
    const { html } = await page(market, "/imprint");
    expect(html).toContain("<h1>Imprint</h1>");
    expect(html).toMatch(/Some Company<br\s*\/?>A street/);
  });

  test("that were not configured are 404, and no page links to them", async ({ market }) => {
    expect((await page(market, "/privacy")).status).toBe(404);
    const { html } = await page(market, "/docs");
    expect(html).toContain('href="/terms"');
    expect(html).toContain('href="/imprint"');
    expect(html).not.toContain('href="/privacy"');
  });

  test.for<[string, (directory: string) => string | Promise<string>, RegExp]>([
    ["a file that is not there", (directory) => join(directory, "none.md"), /TERMS_FILE must name a text file/],
    ["a directory", (directory) => directory, /TERMS_FILE must name a text file/],
    ["an empty file", (directory) => write(directory, "empty.md", " \n"), /TERMS_FILE names an empty file/],
    [
      "a file of more than 500,000 bytes",
      (directory) => write(directory, "large.md", "x".repeat(500_001)),
      /at most 500000 bytes/,
    ],
    [
      "a file that is no text",
      (directory) => write(directory, "binary.md", Buffer.from([0xff, 0xfe, 0x00])),
      /in UTF-8/,
    ],
  ])("keep the service from starting when they name %s", async ([_what, path, message], { market, directory }) => {
    await expect(async () => readConfig({ ...market.environment, TERMS_FILE: await path(directory) })).rejects.toThrow(
      message,
    );
  });
});

async function write(directory: string, name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(directory, name), content);
  return join(directory, name);
}
