import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import { describe, expect } from "vitest";
import { moveAccount } from "../../marketplace/accounts/state.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { pictureSvg } from "../../marketplace/web/share-picture/drawing.ts";
import { SharePictures } from "../../marketplace/web/share-picture/share-pictures.ts";
import { Sitemap } from "../../marketplace/web/sitemap/sitemap.ts";
import { marketTest } from "../support/fixtures.ts";
import { lintDocument } from "../support/lint-document.ts";
import { echoAgent, seedMarket, type TestMarketplace } from "../support/marketplace.ts";

const test = marketTest({}, { agent: { name: "Écho <b> & 語" } });

const get = (market: TestMarketplace, path: string, headers: Record<string, string> = {}) =>
  fetch(market.url + path, { headers });
const locations = (xml: string) => [...xml.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, loc]) => loc as string);
const hidden = async (market: TestMarketplace) => {
  const { agent } = await seedMarket(market.context);
  await moveAgent(market.context.db, agent.address, "unpublish");
  return agent.address;
};

test("the client is installed from the running service into an empty folder, brings nothing else, and runs an agent", {
  timeout: 180_000,
}, async ({ market, seeded }) => {
  const folder = await mkdtemp(join(tmpdir(), "installed-"));
  try {
    await writeFile(join(folder, "package.json"), "{}");
    // Whatever else it wanted would be looked for in a registry, which does not answer.
    const env = {
      PATH: process.env.PATH,
      npm_config_cache: join(folder, "cache"),
      npm_config_registry: "http://127.0.0.1:9",
      npm_config_fetch_retries: "0",
    };
    const install = ["install", "--no-audit", "--no-fund", `${market.url}/client.tgz`];
    const run = promisify(execFile);
    await run("npm", install, { cwd: folder, env });
    const there = await readdir(join(folder, "node_modules"));
    expect(there.filter((name) => !name.startsWith("."))).toEqual(["agent-marketplace-client"]);
    const { stdout } = await run(
      join(folder, "node_modules/.bin/agent-marketplace"),
      ["run", seeded.agent.address, "text=hello"],
      { env: { ...env, AGENT_MARKETPLACE_URL: market.url, AGENT_MARKETPLACE_KEY: seeded.key } },
    );
    expect(stdout).toContain("stand-in");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const answer = await get(market, "/client.tgz");
  expect((await answer.arrayBuffer()).byteLength).toBeLessThan(50_000);
  expect((await get(market, "/client.tgz", { "if-none-match": answer.headers.get("etag")! })).status).toBe(304);
});

test("the OpenAPI document of an agent has each way in which it is called, with its input and its price", async ({
  market,
  seeded,
}) => {
  const { address } = seeded.agent;
  const document = await (await get(market, `/${address}/openapi.json`)).json();

  // Who wrote it under which licence, and what groups it, is said in the service's own document.
  const said = /^(info-license|operation-tag|tag)/;
  expect((await lintDocument(document)).filter((problem) => !said.test(problem))).toEqual([]);
  const { "/api/v1/run": withKey } = document.paths;
  const asked = withKey.post.requestBody.content["application/json"];
  expect(asked.schema.properties.agent).toEqual({ const: address });
  expect(asked.schema.properties.input.properties).toHaveProperty("text");
  expect(Object.keys(document.paths).every((path) => path.startsWith("/api/"))).toBe(true);
  expect((await get(market, `/${await hidden(market)}/openapi.json`)).status).toBe(404);
});

test("the files of an agent for programs may be kept for a minute, and who has one already is told so", async ({
  market,
  seeded,
}) => {
  for (const file of [".md", "/openapi.json"]) {
    const path = `/${seeded.agent.address}${file}`;
    const first = await get(market, path);
    expect(first.headers.get("cache-control")).toBe("public, max-age=60");
    const again = await get(market, path, { "if-none-match": first.headers.get("etag") ?? "" });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  }
});

test("what a suspended creator published is on no page and in no file, until the creator is restored", async ({
  market,
}) => {
  const { agent, creator } = await seedMarket(market.context);
  const parts = ["", "/api", "/mcp", "/about", "/report", "/picture.png", "/openapi.json", ".md"];
  const answers = async () => {
    const get = (part: string) => fetch(`${market.url}/${agent.address}${part}`, { headers: { accept: "text/html" } });
    return Promise.all(parts.map(async (part) => (await get(part)).status));
  };
  await moveAccount(market.context.db, creator, "suspend");
  expect(await answers()).toEqual(parts.map(() => 404));
  await moveAccount(market.context.db, creator, "restore");
  expect(await answers()).toEqual(parts.map(() => 200));
});

describe("the picture of an agent", () => {
  test("is a PNG of 1200 by 630 that its page names, kept by its ETag", async ({ market, seeded }) => {
    const answer = await get(market, `/${seeded.agent.address}/picture.png`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("image/png");
    const png = Buffer.from(await answer.arrayBuffer());
    expect(await sharp(png).metadata()).toMatchObject({ format: "png", width: 1200, height: 630 });
    expect(png.length).toBeLessThan(200_000);
    const again = await get(market, `/${seeded.agent.address}/picture.png`, {
      "if-none-match": answer.headers.get("etag")!,
    });
    expect(again.status).toBe(304);
  });

  test("is another one when the agent says something else", async ({ market }) => {
    const { creator, agent } = await seedMarket(market.context);
    const first = (await get(market, `/${agent.address}/picture.png`)).headers.get("etag");
    await publishAgent(market.context, creator, "echo", { ...echoAgent, name: "Reverb" });
    expect((await get(market, `/${agent.address}/picture.png`)).headers.get("etag")).not.toBe(first);
  });

  test("is 404 for an agent that is not live, as for none", async ({ market }) => {
    for (const address of [await hidden(market), "no/agent"]) {
      expect((await get(market, `/${address}/picture.png`)).status).toBe(404);
    }
  });

  test("holds nothing of a stranger's that is markup, and draws whatever is left", async () => {
    for (const title of [
      "<script>alert(1)</script>",
      "&amp; \u0000\u0007\ud800",
      "語語語",
      " ",
      "x".repeat(5_000),
      "a ".repeat(2_000),
    ]) {
      const svg = pictureSvg({ title, text: title, address: "ada/echo" });
      expect(svg.match(/<[a-z]+/gi)!.every((tag) => /^<(svg|rect|g|path|circle|text)$/.test(tag))).toBe(true);
      await expect(new SharePictures().read({ title, text: title, address: "ada/echo" })).resolves.toHaveProperty(
        "png",
      );
    }
  });

  test("is drawn once, however many ask at once; past what may wait they are sent away", async () => {
    const pictures = new SharePictures();
    const same = await Promise.all(
      Array.from({ length: 50 }, () => pictures.read({ title: "A", text: "", address: "a/b" })),
    );
    expect(new Set(same.map(({ png }) => png)).size).toBe(1);
    const many = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => pictures.read({ title: `Many ${n}`, text: "", address: "a/b" })),
    );
    const refused = many.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(50 - 33);
    expect(refused[0]).toMatchObject({ reason: { status: 429 } });
    await expect(pictures.read({ title: "After", text: "", address: "a/b" })).resolves.toHaveProperty("png");
  });
});

test("every page names a picture, its own or the site's, by a whole address", async ({ market }) => {
  const html = await (await get(market, "/docs", { accept: "text/html" })).text();
  expect(html).toContain('property="og:image" content="http://127.0.0.1:0/picture.png"');
  expect(html).toContain('name="twitter:card" content="summary_large_image"');
  expect((await get(market, "/picture.png")).headers.get("content-type")).toBe("image/png");
});

describe("what search engines are told", () => {
  test("robots.txt names the sitemap and keeps them out of the API", async ({ market }) => {
    const text = await (await get(market, "/robots.txt")).text();
    expect(text).toContain("Sitemap: http://127.0.0.1:0/sitemap.xml");
    expect(text).toContain("Disallow: /api/");
  });

  test("the sitemap's pages are there", async ({ market }) => {
    const paths = locations(await (await get(market, "/sitemap-pages.xml")).text()).map((url) => new URL(url).pathname);
    expect(paths).toContain("/docs/per-call");
    for (const path of paths) expect((await get(market, path, { accept: "text/html" })).status, path).toBe(200);
  });

  test("the index leads to every live agent and its creator, and to no hidden one", async ({ market, seeded }) => {
    const address = await hidden(market);
    const sitemap = new Sitemap(market.context.reads, "https://market.example");
    const parts = locations(await sitemap.index());
    expect(parts).toEqual(["https://market.example/sitemap-pages.xml", "https://market.example/sitemap-1.xml"]);
    const agents = locations(await sitemap.agents(1));
    expect(agents).toContain(`https://market.example/${seeded.agent.address}`);
    expect(agents).toContain(`https://market.example/${seeded.creator.handle}`);
    expect(agents).not.toContain(`https://market.example/${address}`);
  });

  test("each agent is in one part, however many parts there are", async ({ market, seeded }) => {
    const { db } = market.context;
    await db.query(
      "alter table listings disable trigger user; alter table listings drop constraint listings_agent_id_fkey",
    );
    await db.query(
      `insert into listings select (jsonb_populate_record(l, jsonb_build_object('agent_id', 'agt_many' || n, 'slug', 'many-' || n))).*
       from listings l, generate_series(1, 12000) n where l.agent_id = $1`,
      [await idOf(market, seeded.agent.address)],
    );
    const sitemap = new Sitemap(market.context.reads, "");
    const parts = locations(await sitemap.index()).filter((path) => /\d\.xml$/.test(path));
    expect(parts).toHaveLength(3);
    const seen: string[] = [];
    for (let part = 1; part <= parts.length; part += 1) {
      seen.push(...locations(await sitemap.agents(part)).filter((path) => path.includes("/many-")));
    }
    expect(seen).toHaveLength(12_000);
    expect(new Set(seen).size).toBe(12_000);
  });

  test.for(["/sitemap-0.xml", "/sitemap-99999.xml", "/sitemap-x.xml", "/sitemap-1e3.xml", "/sitemap--1.xml"])(
    "%s is 404",
    async (path, { market }) => {
      expect((await get(market, path)).status).toBe(404);
    },
  );
});

async function idOf(market: TestMarketplace, address: string): Promise<string> {
  const { rows } = await market.context.db.query("select id from agents where handle || '/' || slug = $1", [address]);
  return rows[0].id;
}
