import { beforeEach, describe, expect } from "vitest";
import { upstreamTest } from "../support/fixtures.ts";
import { newPerson, type Person } from "./console/person.ts";

/** So many numbers in a list that lies in 98 others: written with a line and an indent each, it is a hundred times as long. */
function deepList(count: number): unknown {
  let value: unknown = new Array(count).fill(1);
  for (let depth = 0; depth < 98; depth += 1) value = [value];
  return value;
}

const test = upstreamTest((request, response) => {
  const count = Number(request.url?.slice(1));
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(deepList(count)));
});

describe("a result that is nested deep", () => {
  let creator: Person;
  let agent: string;
  const run = async (n: number) => {
    const { body } = await creator.browser.post("/api/account/run", { agent, input: { n } });
    expect(body.success).toBe(true);
    return body.run_id as string;
  };
  beforeEach<{ market: { url: string }; base: string }>(async ({ market, base }) => {
    creator = await newPerson(market);
    agent = `${creator.handle}/deep`;
    const fields = [{ name: "n", type: "integer", required: true }];
    const listing = { name: "Deep", description: "Lists in lists.", category: "other", price_credits: 0, fields };
    const saved = { ...listing, connector: "http-api", settings: { url: `${base}/{{n}}` } };
    expect((await creator.browser.put("/api/account/agents/deep", saved)).status).toBe(200);
    expect((await creator.browser.post("/api/account/agents/deep/publish")).status).toBe(200);
  });

  test("makes no page of megabytes where six are its agent's examples, for people and for programs", async ({
    market,
  }) => {
    for (let n = 0; n < 6; n += 1) {
      expect((await creator.browser.put(`/api/account/runs/${await run(10_600)}/example`, {})).status).toBe(200);
    }
    const { html } = await creator.get(`/${agent}`);
    expect(html.match(/This is its beginning/g)).toHaveLength(6);
    expect(html.length).toBeLessThan(600_000);
    const markdown = await (await fetch(`${market.url}/${agent}.md`)).text();
    expect(markdown.length).toBeLessThan(60_000);
    const [, example = ""] = /It gave:\s+```json\n(.*?)\n```/s.exec(markdown) ?? [];
    expect(JSON.parse(example)).toMatchObject({ kind: "json", data: { value: deepList(10_600) } });
  });

  test("makes none where it is shared, or posted by a form", async ({ market }) => {
    const asked = { "in.n": "140000", request: "one", max_credits: "0", by: "credits" };
    const posted = await creator.post(`/${agent}`, asked, { origin: market.url });
    expect(posted.html).toContain("This is its beginning");
    expect(posted.html.length).toBeLessThan(200_000);
    const { token } = (await creator.browser.put(`/api/account/runs/${await run(140_000)}/share`, {})).body;
    const shared = await creator.get(`/runs/shared/${token}`);
    expect(shared.html).toContain("This is its beginning");
    expect(shared.html.length).toBeLessThan(200_000);
  });
});
