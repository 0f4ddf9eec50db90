import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { marketTest } from "../support/fixtures.ts";
import type { TestMarketplace } from "../support/marketplace.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const test = marketTest();

/** The cache of versions has room for some eighty of these. */
const agents = 120;
const longText = "x".repeat(190_000);

test("agents that were asked for their price are kept in memory within the room that versions have", async ({
  market,
  seeded,
}) => {
  const versions: WeakRef<object>[] = [];
  for (let n = 0; n < agents; n += 1) {
    const { agentId, address } = await publishAgent(market.context, seeded.creator, `long-${n}`, {
      name: "Long",
      description: "Says much.",
      connector: "http-api",
      price_credits: 5,
      fields: [{ name: "text", type: "string" }],
      settings: { url: "https://example.com/", method: "POST", body: `${n} ${longText}` },
    });
    versions.push(await versionOf(market, agentId));
    expect((await fetch(`${market.url}/api/agent/${address}`, { method: "POST" })).status).toBe(503);
  }
  const inMemory = () => {
    collectGarbage();
    return versions.filter((version) => version.deref()).length;
  };
  await expect.poll(inMemory).toBeLessThan(100);
});

async function versionOf({ context }: TestMarketplace, agentId: string) {
  return new WeakRef(await context.versions.load(agentId as never, 1));
}
