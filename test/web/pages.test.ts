import { randomUUID } from "node:crypto";
import { Client } from "undici";
import { describe, expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { parseHandle } from "../../marketplace/accounts/handle.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { marketplaceEndpoints } from "../../marketplace/endpoints.ts";
import { createSite } from "../../marketplace/web/serve.ts";
import { marketTest } from "../support/fixtures.ts";
import { seedMarket, type TestMarketplace } from "../support/marketplace.ts";
import { loadedWhenWanted } from "../support/when-wanted.ts";
import { newPerson } from "./console/person.ts";

const test = marketTest();

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const siteOf = ({ context }: TestMarketplace) => createSite(context, marketplaceEndpoints(context));

describe("pages", () => {
  test("the first page is served under a policy without inline code, to a browser and to curl", async ({ market }) => {
    for (const accept of [browser.accept, "*/*"]) {
      const answer = await fetch(market.url, { headers: { accept } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
      expect(policy).not.toMatch(/unsafe|data:|\*/);
      expect(answer.headers.get("referrer-policy")).toBe("same-origin");
      expect(await answer.text()).not.toMatch(/<script(?![^>]*(src=|application\/ld\+json))|style=|javascript:/);
    }
  });

  test("a shared cache may keep for a second what is the same for every visitor, and asks by its ETag; nothing of anyone's", async ({
    market,
  }) => {
    const { headers } = await fetch(`${market.url}/explore`);
    expect(headers.get("cache-control")).toBe("public, max-age=0, s-maxage=1");
    expect(headers.get("vary")?.toLowerCase()).toContain("cookie");
    const known = { "if-none-match": headers.get("etag") ?? "" };
    const again = await fetch(`${market.url}/explore`, { headers: known });
    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, headers.get("etag"), ""]);
    expect((await fetch(`${market.url}/explore?q=other`, { headers: known })).status).toBe(200);
    const { agent } = await seedMarket(market.context);
    for (const [path, cookie] of [
      ["/explore", "theme=dark"],
      [`/${agent.address}`, ""],
      ["/sign-in", ""],
    ] as const) {
      const own = await fetch(market.url + path, { headers: cookie ? { cookie } : {} });
      expect([path, own.headers.get("cache-control")]).toEqual([path, expect.stringMatching(/^(private|no-store)/)]);
    }
  });

  test("a field begins empty whatever its name, and leaves it to the service to say that a text is too long", async ({
    market,
  }) => {
    const fields = [{ name: "constructor", type: "text", required: true, max_length: 5 }];
    const settings = { prompt: "{{constructor}}" };
    const { agent } = await seedMarket(market.context, { agent: { fields, settings } });
    const page = await (await fetch(`${market.url}/${agent.address}`, { headers: browser })).text();
    const field = /<textarea[^>]*name="in\.constructor"[^>]*>[^<]*/.exec(page)?.[0];
    expect(field).toMatch(/>$/);
    expect(field).not.toContain("maxlength");
    const workbench = await (await fetch(`${market.url}/svg`, { headers: browser })).text();
    const prompt = /<textarea[^>]*name="prompt"[^>]*>/.exec(workbench)?.[0];
    expect(prompt).toBeDefined();
    expect(prompt).not.toContain("maxlength");
  });

  test("an address that begins with two slashes is that of the first page", async ({ market }) => {
    for (const path of ["//", "//?a=b"])
      expect((await fetch(market.url + path, { headers: browser })).status).toBe(200);
    // Browsers write a slash for these; other clients send them as they are.
    const client = new Client(market.url);
    for (const path of ["/\\", "/\\["])
      expect((await client.request({ path, method: "GET", headers: browser })).statusCode).toBe(404);
    await client.destroy();
  });

  test("a list keeps the filters that it can beside one that it cannot, and what was typed there", async ({
    market,
  }) => {
    const answer = await fetch(`${market.url}/explore?free=true&min_price=10&max_price=5`, { headers: browser });
    const text = await answer.text();
    expect([answer.status, text.includes("max_price&quot; is below min_price")]).toEqual([400, true]);
    const input = (name: string) => new RegExp(`<input[^>]*name="${name}"[^>]*>`).exec(text)?.[0];
    expect(input("free")).toContain("checked");
    expect(input("min_price")).toContain('value="10"');
    expect(input("max_price")).toContain('value="5"');
  });

  test.for(["terminal", "wallet"])("a form that says '%s' spends no credits", async (by, { market }) => {
    const { agent } = await seedMarket(market.context, { price: 5 });
    const person = await newPerson(market);
    const { id: accountId } = await accountByHandle(market.context.db, person.handle);
    await grant(market.context.db, { accountId, credits: credits(50n) });
    const form = { by, "in.text": "hello", max_credits: "5", request: randomUUID() };
    const refused = await person.post(`/${agent.address}`, form);
    expect(refused.html).toContain("Nothing was charged. Choose credits");
    expect((await person.browser.get("/api/account")).body.account.credits).toBe(50);
    const ran = await person.post(`/${agent.address}`, { ...form, by: "credits" });
    expect(ran.html).toContain("Paid 5 credits");
  });

  test("a form that is posted again and refused keeps its name, under which it is charged once", async ({ market }) => {
    const { agent } = await seedMarket(market.context, { price: 5 });
    const person = await newPerson(market);
    const { db } = market.context;
    const { id: accountId } = await accountByHandle(db, person.handle);
    await grant(db, { accountId, credits: credits(50n) });
    const form = { by: "credits", "in.text": "hello", max_credits: "5", request: randomUUID() };
    expect((await person.post(`/${agent.address}`, form)).html).toContain("Paid 5 credits");
    await db.query("select count_calls($1, 60, 60)", [`changes:${accountId}`]);
    const refused = await person.post(`/${agent.address}`, form);
    const [, request = ""] = /name="request" value="([^"]+)"/.exec(refused.html) ?? [];
    expect([refused.status, request]).toEqual([200, form.request]);
    expect(refused.html).not.toContain("</strong>Nothing was charged");
    expect(refused.html).toContain("it runs and is charged once");
    await db.query("delete from rate_limits where subject = $1", [`changes:${accountId}`]);
    expect((await person.post(`/${agent.address}`, { ...form, request })).html).toContain("Paid 5 credits");
    expect((await person.browser.get("/api/account")).body.account.credits).toBe(45);
    const other = await person.post(`/${agent.address}`, { ...form, "in.text": "else" });
    expect(other.html).not.toContain(form.request);
  });

  test("a form of more fields, or with files of more parts, than any here has is refused while it is read", async ({
    market,
  }) => {
    const { agent } = await seedMarket(market.context);
    const post = async (path: string, type: string, body: string) => {
      const answer = await fetch(market.url + path, { method: "POST", headers: { "content-type": type }, body });
      return { status: answer.status, text: await answer.text() };
    };
    const fields = (count: number) =>
      post(`/${agent.address}`, "application/x-www-form-urlencoded", "a&".repeat(count));
    expect(await fields(5_000)).toEqual({ status: 400, text: expect.stringContaining("more than 5000 fields") });
    expect((await fields(4_000)).text).not.toContain("fields");
    const parts = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(5_001);
    const answer = await post("/svg", "multipart/form-data; boundary=x", `${parts}--x--\r\n`);
    expect(answer).toEqual({ status: 400, text: expect.stringContaining("too many parts") });
  });

  test("what pages load is compressed, kept for good, and named by what it holds", async ({ market }) => {
    const html = await (await fetch(market.url)).text();
    const loaded = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(loaded.length).toBeGreaterThan(3);
    for (const path of loaded) {
      const answer = await fetch(market.url + path, { headers: { "accept-encoding": "br" } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(path).toMatch(/\.[A-Z0-9]{8}\.\w+$/);
      if (/\.(css|js)$/.test(path)) expect(answer.headers.get("content-encoding")).toBe("br");
    }
    expect((await fetch(`${market.url}/assets/../main.ts`)).status).toBe(404);
  });

  test("the stylesheet is at most 15 kB gzipped, and every page's scripts are within its budget", async ({
    market,
  }) => {
    const { pages, frame } = siteOf(market);
    const assets = await frame.assets();
    expect(assets.weightOf("site.css")).toBeLessThan(15_000);
    for (const [name, bytesMax] of Object.entries(loadedWhenWanted)) {
      expect(assets.weightOf(name), name).toBeLessThanOrEqual(bytesMax);
    }
    expect(assets.weightOf("site.js")).toBeLessThanOrEqual(Math.min(...pages.map((page) => page.scriptBytesMax)));
  });

  test("every page tells how the services are, in a word, and waits for nobody to say so", async ({ market }) => {
    const told = async () => {
      const html = await (await fetch(`${market.url}/pricing`)).text();
      return /<footer.*<a href="\/status">.*?(Everything works|Part of it does not work|Out of order)/s.exec(html)?.[1];
    };
    const { status } = (await (await fetch(`${market.url}/api/v1/status`)).json()) as { status: string };
    await expect.poll(told).toBe(status === "ok" ? "Everything works" : "Part of it does not work");
  });

  test("no creator's handle can be the path of a page", ({ market }) => {
    const { pages } = siteOf(market);
    const words = pages.map(({ path }) => path.split("/")[1] ?? "").filter((word) => /^[a-z]/.test(word));
    for (const word of words) expect(() => parseHandle(word), word).toThrow(/is reserved/);
  });
});

describe("what is not there", () => {
  test("is a page that helps for a browser, and JSON for programs", async ({ market }) => {
    const page = await fetch(`${market.url}/sumarizer-of-texts/x/y`, { headers: browser });
    expect(page.status).toBe(404);
    expect(page.headers.get("content-type")).toMatch("text/html");
    expect(page.headers.get("content-security-policy")).toMatch("script-src 'self'");
    expect(await page.text()).toContain("No money moved by opening this page");
    const json = await fetch(`${market.url}/sumarizer-of-texts/x/y`);
    expect([json.status, await json.json()]).toEqual([404, { error: expect.stringContaining("nothing at GET") }]);
    const api = await fetch(`${market.url}/api/v1/nothing`, { headers: browser });
    expect(api.headers.get("content-type")).toMatch("application/json");
  });

  test("names agents that its address could mean, or those that are run most, whatever the address", async ({
    market,
  }) => {
    const { agent } = await seedMarket(market.context);
    const near = await fetch(`${market.url}/somebody/ekho`, { headers: browser });
    expect([near.status, (await near.text()).includes(`href="/${agent.address}"`)]).toEqual([404, true]);
    const none = await fetch(`${market.url}/qqqqqqq`, { headers: browser });
    expect(await none.text()).toMatch(/Run most at the moment[\s\S]+class="agent"/);
    for (const path of [`/${"x".repeat(8_000)}`, "/%00%ff", "/%E2%80%AE/..%2f", "/%3Cscript%3E", "/💥"]) {
      const odd = await fetch(market.url + path, { headers: browser });
      expect([400, 404], path.slice(0, 20)).toContain(odd.status);
      expect(await odd.text()).not.toContain("<script>");
    }
  });

  test("a method that a page lacks is a 405 that says which there are, and a form from elsewhere is refused", async ({
    market,
  }) => {
    const put = await fetch(`${market.url}/pricing`, { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    const type = { "content-type": "application/x-www-form-urlencoded", accept: "text/html" };
    const headers = { origin: "https://evil.example", ...type };
    const foreign = await fetch(`${market.url}/sign-out`, { method: "POST", headers, body: "" });
    expect(foreign.status).toBe(403);
    // What is refused now may have been posted before, and be going on.
    const told = await foreign.text();
    expect(told).toContain("Nothing was charged for this attempt");
    expect(told).toContain("goes on");
  });
});
