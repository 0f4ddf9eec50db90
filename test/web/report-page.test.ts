import { describe, expect } from "vitest";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { marketTest } from "../support/fixtures.ts";
import { type Market, seedMarket, type TestMarketplace } from "../support/marketplace.ts";

const test = marketTest({}, { agent: { name: 'Echo <b>"1"' } });

let visitors = 0;

async function post(
  market: TestMarketplace,
  seeded: Market,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
  path = reportPath(seeded),
) {
  visitors += 1;
  const answer = await fetch(market.url + path, {
    method: "POST",
    headers: { accept: "text/html", "x-forwarded-for": `10.2.0.${visitors}`, ...headers },
    body: new URLSearchParams(fields),
  });
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
}

const reportPath = (seeded: Market) => `/${seeded.agent.address}/report`;
const good = { reason: "malicious", text: "It asks for my seed phrase.", email: "" };
const reports = async (market: TestMarketplace) => {
  const { rows } = await market.context.db.query("select reason, text, email from reports order by created_at desc");
  return rows;
};

describe("the page that reports an agent", () => {
  test("takes the form as a browser without scripts posts it, and says so", async ({ market, seeded }) => {
    const form = await fetch(market.url + reportPath(seeded), { headers: { accept: "text/html" } });
    expect(form.status).toBe(200);
    expect(await form.text()).toContain("Report Echo &lt;b>&quot;1&quot;");
    const { status, html } = await post(market, seeded, good);
    expect(status).toBe(200);
    expect(html).toContain("The operator has your report");
    expect((await reports(market))[0]).toEqual({
      reason: "malicious",
      text: "It asks for my seed phrase.",
      email: null,
    });
  });

  test("gives back what was typed beside what is wrong with it", async ({ market, seeded }) => {
    const typed = { reason: "private", text: "<script>alert(1)</script>", email: "nobody" };
    const { status, html } = await post(market, seeded, typed);
    expect(status).toBe(422);
    expect(html).toContain("Must be an e-mail address.");
    expect(html).toContain("&lt;script>alert(1)&lt;/script>");
    expect(html).not.toContain("<script>alert");
    expect(html).toMatch(/value="private" checked|checked[^>]*value="private"/);
  });

  test("names each field that lacks", async ({ market, seeded }) => {
    expect((await post(market, seeded, { ...good, text: "" })).html).toContain("Must say what is wrong.");
    expect((await post(market, seeded, { text: "x" })).html).toContain("Choose one.");
  });

  test("takes nothing from a page of another site", async ({ market, seeded }) => {
    const before = (await reports(market)).length;
    expect((await post(market, seeded, good, { origin: "https://evil.example" })).status).toBe(403);
    expect((await post(market, seeded, good, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect(await reports(market)).toHaveLength(before);
  });

  test("refuses a form that is too large, or none", async ({ market, seeded }) => {
    expect((await post(market, seeded, { ...good, text: "x".repeat(40_000) })).status).toBe(413);
    const json = await fetch(market.url + reportPath(seeded), {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/html" },
      body: "{}",
    });
    expect(json.status).toBe(400);
  });

  test("takes a text of 2,000 characters of three bytes each", async ({ market, seeded }) => {
    expect((await post(market, seeded, { ...good, text: "語".repeat(2_000) })).status).toBe(200);
  });

  test("is 404 for an agent that is not live, as for none", async ({ market, seeded }) => {
    const hidden = (await seedMarket(market.context)).agent.address;
    await moveAgent(market.context.db, hidden, "suspend");
    for (const address of [hidden, "no/agent"]) {
      const answer = await fetch(`${market.url}/${address}/report`, { headers: { accept: "text/html" } });
      expect(answer.status).toBe(404);
      expect((await post(market, seeded, good, {}, `/${address}/report`)).status).toBe(404);
    }
  });

  test("says when an address has sent enough, and what it typed stays in the form", async ({ market, seeded }) => {
    const from = { "x-forwarded-for": "10.9.9.9" };
    for (let n = 0; n < 10; n += 1) await post(market, seeded, good, from);
    const { status, headers, html } = await post(market, seeded, good, from);
    expect(status).toBe(429);
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    expect(html).toContain("You have sent several reports today.");
    expect(html).toContain("It asks for my seed phrase.");
  });
});
