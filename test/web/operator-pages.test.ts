import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../marketplace/config.ts";
import { startMarketplace, type TestMarketplace } from "../support/marketplace.ts";

let directory: string;
let market: TestMarketplace;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "operator-"));
  await writeFile(
    join(directory, "terms.md"),
    "# Terms of use\n\nBe *kind*. <script>alert(1)</script>\n\n## Law\n\n[x](javascript:alert(1))",
  );
  await writeFile(join(directory, "imprint.txt"), "Some Company\nA street");
  market = await startMarketplace({
    env: { TERMS_FILE: join(directory, "terms.md"), IMPRINT_FILE: join(directory, "imprint.txt") },
  });
});
afterAll(async () => {
  await market.stop();
  await rm(directory, { recursive: true, force: true });
});

async function page(path: string): Promise<{ status: number; html: string }> {
  const answer = await fetch(market.url + path, { headers: { accept: "text/html" } });
  return { status: answer.status, html: await answer.text() };
}

describe("the operator's own pages", () => {
  test("are shown as Markdown, with no markup of their own", async () => {
    const { status, html } = await page("/terms");
    expect(status).toBe(200);
    expect(html).toContain("<h1>Terms of use</h1>");
    expect(html).toContain("<em>kind</em>");
    expect(html).toContain("&lt;script>");
    expect(html).not.toMatch(/<script>|javascript:/);
  });

  test("have a heading also where the file is plain text", async () => {
    expect((await page("/imprint")).html).toContain("<h1>Imprint</h1>");
  });

  test("that were not configured are 404, and no page links to them", async () => {
    expect((await page("/privacy")).status).toBe(404);
    const { html } = await page("/docs");
    expect(html).toContain('href="/terms"');
    expect(html).toContain('href="/imprint"');
    expect(html).not.toContain('href="/privacy"');
  });

  test.each([
    ["a file that is not there", () => join(directory, "none.md"), /TERMS_FILE must name a text file/],
    ["a directory", () => directory, /TERMS_FILE must name a text file/],
    ["an empty file", async () => write("empty.md", " \n"), /TERMS_FILE names an empty file/],
    ["a file of more than 500,000 bytes", async () => write("large.md", "x".repeat(500_001)), /at most 500000 bytes/],
    ["a file that is no text", async () => write("binary.md", Buffer.from([0xff, 0xfe, 0x00])), /in UTF-8/],
  ])("keep the service from starting when they name %s", async (_what, path, message) => {
    await expect(async () => readConfig({ ...market.environment, TERMS_FILE: await path() })).rejects.toThrow(message);
  });
});

async function write(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(directory, name), content);
  return join(directory, name);
}
