import { describe, expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { agentOfTool, agentsInScope } from "../../marketplace/agents/scope.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import type { Scope } from "../../marketplace/api-keys/key-settings.ts";
import { listKeys } from "../../marketplace/api-keys/list.ts";
import { digestOf } from "../../marketplace/api-keys/token.ts";
import { marketTest } from "../support/fixtures.ts";
import { echoAgent, type Market, seedMarket, type TestMarketplace } from "../support/marketplace.ts";

const test = marketTest();
let mine: Market;
let theirs: Market;
test.beforeAll(async ({ market }) => {
  mine = await seedMarket(market.context);
  theirs = await seedMarket(market.context);
  await publishAgent(market.context, mine.creator, "second", { ...echoAgent, name: "Second" });
});

const callerWith = async (market: TestMarketplace, more: { scope?: Scope; agents?: string[] }) => {
  const account = mine.creator;
  const { token, id } = await createKey(market.context.db, { accountId: account.id, name: "scoped", ...more });
  await market.context.db.query("update api_keys set revoked_at = now() where account_id = $1 and id <> $2", [
    account.id,
    id,
  ]);
  return (await market.context.lookups.key(digestOf(token).toString("hex")))!.caller;
};
const tools = async (market: TestMarketplace, caller: Awaited<ReturnType<typeof callerWith>>) =>
  (await agentsInScope(market.context.db, caller, { limit: 100 })).map(({ address }) => address);

describe("the agents a key sees as tools", () => {
  test("are its account's own where nothing is said", async ({ market }) => {
    const caller = await callerWith(market, {});
    expect(await tools(market, caller)).toEqual([mine.agent.address, `${mine.creator.handle}/second`]);
    expect(await agentOfTool(market.context.db, caller, theirs.agent.address.replace("/", "--"))).toBeUndefined();
  });

  test("are the chosen ones, whoever made them, in whatever case they were named", async ({ market }) => {
    const caller = await callerWith(market, { scope: "chosen_agents", agents: [theirs.agent.address.toUpperCase()] });
    expect(await tools(market, caller)).toEqual([theirs.agent.address]);
    const [key] = await listKeys(market.context.db, mine.creator.id);
    expect(key).toMatchObject({ scope: "chosen_agents", agents: [theirs.agent.address] });
    const tool = theirs.agent.address.replace("/", "--");
    expect(await agentOfTool(market.context.db, caller, tool)).toEqual({ tool, address: theirs.agent.address });
    await moveAgent(market.context.db, theirs.agent.address, "unpublish");
    expect(await tools(market, caller)).toEqual([]);
    expect(await agentOfTool(market.context.db, caller, tool)).toBeUndefined();
    await publishAgent(market.context, theirs.creator, "echo", echoAgent);
  });

  test("are none for a key that is for REST only", async ({ market }) => {
    expect(await tools(market, await callerWith(market, { scope: "rest_only" }))).toEqual([]);
  });

  test("come page by page", async ({ market }) => {
    const caller = await callerWith(market, {});
    const [first] = await agentsInScope(market.context.db, caller, { limit: 1 });
    const rest = await agentsInScope(market.context.db, caller, { limit: 1, after: first!.tool });
    expect([first, ...rest].map((one) => one!.address)).toEqual(await tools(market, caller));
  });
});

test.for<[string, object, string]>([
  ["chosen agents without any", { scope: "chosen_agents" }, "agents"],
  ["agents with another scope", { agents: ["a/b"] }, "agents"],
  ["an agent that is not there", { scope: "chosen_agents", agents: ["no/agent"] }, "agents"],
  ["an address that is none", { scope: "chosen_agents", agents: ["nothing\0"] }, "agents"],
  ["too many", { scope: "chosen_agents", agents: Array(101).fill("a/b") }, "agents"],
  ["a rate limit of nothing", { rateLimitPerMinute: 0 }, "rate_limit_per_minute"],
  ["a part of a credit a day", { maxCreditsPerDay: 1.5 }, "max_credits_per_day"],
  ["no name", { name: " " }, "name"],
])("a key with %s is refused by name, and no slot is taken", async ([_name, wrong, field], { market }) => {
  const account = await createAccount(market.context.db, { handle: `a-${Math.random().toString(36).slice(2, 8)}` });
  const made = createKey(market.context.db, { accountId: account.id, name: "x", ...wrong });
  await expect(made).rejects.toMatchObject({ code: "invalid_value", body: { field } });
  expect(await listKeys(market.context.db, account.id)).toEqual([]);
});
