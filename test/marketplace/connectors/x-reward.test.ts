import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect } from "vitest";
import { type MockX, startMockX } from "../../../infra/mock-x/server.ts";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { prepareRun } from "../../../marketplace/runs/prepare.ts";
import { runOnce } from "../../../marketplace/runs/run.ts";
import { inTransaction } from "../../../shared/postgres.ts";
import { ledgerMarketTest } from "../../support/fixtures.ts";
import { allow, type LedgerMarket, seedLedgerCreator } from "../../support/ledger-agents.ts";
import { balanceOf, call, proveLedger, run, seedMarket, spendable, until } from "../../support/marketplace.ts";
import { part, perFile } from "../../support/part.ts";

const test = ledgerMarketTest()
  .extend(
    "x",
    perFile,
    part(() => startMockX({ token: "X-TOKEN-MARK" })),
  )
  .extend("env", perFile, ({ x }) => ({ X_API_BASE_URL: x.url, X_API_BEARER_TOKEN: "X-TOKEN-MARK" }));
test.afterAll(async ({ market }) => {
  await proveLedger(market.context);
  expect(market.lines.join("")).not.toContain("X-TOKEN-MARK");
});

let postNumber = 1_700_000_000_000_000_000n;
let authorNumber = 1_000n;
test.afterEach(({ market }) => market.open.ledger.faults.clear());

const fields = [
  { name: "post", type: "string", required: true },
  { name: "wallet", type: "string" },
];
const buyerWallet = "0.0.1003";
type Given = Partial<Parameters<MockX["add"]>[0]>;
/** A post of an author of its own, unless said otherwise. */
const newPost = (x: MockX, text: string, given: Given = {}) => {
  authorNumber += 1n;
  postNumber += 1n;
  const author = { id: `${authorNumber}`, username: `author${authorNumber}`, ...given.author };
  return x.add({ id: `${postNumber}`, text, ...given, author });
};
const linkTo = ({ id, author }: ReturnType<typeof newPost>) => `https://x.com/${author.username}/status/${id}`;

describe("x-reward", () => {
  const settings = { asset: "hbar", amount: "100", per_day_max: "100000", budget: "100000", rule: {} };
  const campaign = async (market: LedgerMarket, more: object = {}) => {
    await allow(market, 10_000_000);
    const seeded = await seedLedgerCreator(market, { balance: 1_000 });
    const agent = await seeded.publish("x-reward", { ...settings, ...more }, { fields });
    const owner = (await createKey(market.context.db, { accountId: seeded.creator.id, name: "owner" })).token;
    const ask = (post: string, wallet = buyerWallet) => run(market, seeded.key, agent.address, { post, wallet });
    const claim = async (post: string, wallet?: string) => (await ask(post, wallet)).body;
    const rewards = async () => (await call(market.url, "/api/v1/rewards", { key: owner })).body.rewards;
    return { ...seeded, agent, ask, claim, rewards };
  };
  const hbarOf = (market: LedgerMarket, account: string) => market.open.hbarBalance(account);

  test("pays the wallet that the post names, out of the creator's allowance, and leaves a record", async ({
    x,
    market,
  }) => {
    const { claim, rewards, agent, key } = await campaign(market);
    const before = await hbarOf(market, buyerWallet);
    const post = newPost(x, `I like it, pay ${buyerWallet}.`);
    const body = await claim(linkTo(post));
    expect(body).toMatchObject({
      success: true,
      output: { kind: "receipt", status: "SUCCESS", transactionId: expect.stringMatching(/^0\.0\.1005@/) },
      receipt: { asset: "hbar", amount: "100", to: buyerWallet, post: post.id },
    });
    expect(await hbarOf(market, buyerWallet)).toBe(before + 100n);
    expect(await rewards()).toEqual([
      {
        agent: agent.address,
        run_id: body.run_id,
        post_id: post.id,
        author_id: post.author.id,
        username: post.author.username,
        recipient: buyerWallet,
        asset: "hbar",
        amount: "100",
        state: "paid",
        network: "hedera:testnet",
        transaction_id: body.output.transactionId,
        created_at: expect.any(String),
      },
    ]);
    expect((await call(market.url, "/api/v1/rewards", { key })).body.rewards).toEqual([]);
  });

  test("pays once for a post and once to an author, whatever the spelling of the link", async ({ x, market }) => {
    const { ask, claim, key } = await campaign(market);
    const post = newPost(x, `pay ${buyerWallet}`);
    expect((await claim(linkTo(post))).success).toBe(true);
    for (const link of [post.id, `https://twitter.com/i/status/${post.id}?s=20`, `${linkTo(post)}/photo/1`]) {
      expect(await ask(link)).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining("rewarded already"), charged: false },
      });
    }
    const second = newPost(x, `pay ${buyerWallet} again`, { author: post.author });
    expect((await claim(second.id)).error).toContain("author");
    expect((await balanceOf(market, key)).credits).toBe(995);
  });

  test("pays once under any concurrency, and never more than the budget or the day allows", async ({ x, market }) => {
    const one = await campaign(market);
    const post = newPost(x, `pay ${buyerWallet}`);
    const before = await hbarOf(market, buyerWallet);
    const claims = await Promise.all(Array.from({ length: 12 }, () => one.claim(post.id)));
    expect(claims.filter(({ success }) => success)).toHaveLength(1);
    expect(await hbarOf(market, buyerWallet)).toBe(before + 100n);

    for (const limit of [{ budget: "350" }, { per_day_max: "350" }]) {
      const limited = await campaign(market, limit);
      const posts = Array.from({ length: 8 }, () => newPost(x, `pay ${buyerWallet}`));
      const paid = await Promise.all(posts.map(({ id }) => limited.claim(id)));
      expect(paid.filter(({ success }) => success)).toHaveLength(3);
      expect(await limited.rewards()).toHaveLength(3);
      expect((await balanceOf(market, limited.key)).credits).toBe(985);
    }
  });

  test("a transfer that certainly failed leaves the post to be rewarded; one that may have happened does not", async ({
    x,
    market,
  }) => {
    const { claim, rewards } = await campaign(market);
    const post = newPost(x, `pay ${buyerWallet}`);
    market.open.ledger.faults.set({ throttleAtConsensus: 1 });
    expect(await claim(post.id)).toMatchObject({ success: false, credits_used: 0 });
    market.open.ledger.faults.set({ dropReply: 1 });
    const before = await hbarOf(market, buyerWallet);
    expect((await claim(post.id)).success).toBe(true);
    expect(await claim(post.id)).toMatchObject({ charged: false });
    expect(await hbarOf(market, buyerWallet)).toBe(before + 100n);
    expect((await rewards()).map(({ state }: { state: string }) => state)).toEqual(["paid", "void"]);
  });

  test("is not published with a day's limit that no reward keeps within", async ({ market }) => {
    await expect(campaign(market, { amount: "100", per_day_max: "99" })).rejects.toThrow(
      '"settings.per_day_max" must be at least amount',
    );
  });

  test("no wallet but the one in the post is paid", async ({ x, market }) => {
    const { ask, claim } = await campaign(market);
    const post = newPost(x, `pay ${buyerWallet}`);
    for (const wallet of ["0.0.1004", "0.0.100", "0.0.10031"]) {
      expect((await ask(post.id, wallet)).status).toBe(422);
    }
    const linked = newPost(x, "Paid at https://hashscan.io/mainnet/account/0.0.1003 today");
    expect((await ask(linked.id)).status).toBe(422);
    expect((await claim(post.id)).success).toBe(true);
  });

  const old = "2015-01-01T00:00:00.000Z";
  test.for<[string, object, string, Given]>([
    ["the text", { text: ["love agents"] }, "I LOVE agents", {}],
    ["signs that HTML escapes", { text: ["Q&A <3"] }, "Our q&a <3", {}],
    ["a link", { text: ["example.com/Launch?a=1&b=2"] }, "See https://example.com/launch?a=1&b=2 now,", {}],
    ["a mention", { mentions: ["Ada"] }, "hello @ada", {}],
    ["a hashtag", { hashtags: ["x402"] }, "nice #X402 thing", {}],
    ["a hashtag with marks on its letters", { hashtags: ["हिन्दी"] }, "अच्छा #हिन्दी", {}],
    ["a text in letters and marks apart", { text: ["cafe\u0301"] }, "Our CAF\u00c9", {}],
    ["likes", { likes_min: 5 }, "good", { likes: 5 }],
    ["followers", { followers_min: 50 }, "good", { author: { followers: 50 } }],
    ["age", { author_age_days_min: 365 }, "good", { author: { created_at: old } }],
    ["freshness", { posted_within_days: 2 }, "good", {}],
    ["the end of a long post", { text: ["the end"] }, `${"long ".repeat(100)} the end`, {}],
  ])("asks for %s and takes a post that has it", async ([_name, rule, text, given], { x, market }) => {
    const { claim } = await campaign(market, { rule });
    expect((await claim(newPost(x, `${text} ${buyerWallet}`, given).id)).success).toBe(true);
  });

  const today = new Date().toISOString();
  test.for<[string, object, string, Given]>([
    ["without the text", { text: ["love agents"] }, "I love", {}],
    ["that says no more than what HTML escapes to", { text: ["amp"] }, "Q&A", {}],
    ["that mentions somebody else", { mentions: ["ada"] }, "hello @adalovelace ada", {}],
    ["with another hashtag", { hashtags: ["x402"] }, "x402 #x402payments", {}],
    ["with too few likes", { likes_min: 5 }, "good", { likes: 4 }],
    ["of somebody with too few followers", { followers_min: 50 }, "good", { author: { followers: 49 } }],
    ["of a new account", { author_age_days_min: 2 }, "good", { author: { created_at: today } }],
    ["that is old", { posted_within_days: 2 }, "good", { created_at: old }],
    ["that passes on another", {}, "good", { repost: true }],
    ["of a protected account", {}, "good", { author: { protected: true } }],
  ])("pays nothing for a post %s", async ([_name, rule, text, given], { x, market }) => {
    const { ask, rewards } = await campaign(market, { rule });
    const answer = await ask(newPost(x, `${text} ${buyerWallet}`, given).id);
    expect(answer).toMatchObject({ status: 422, body: { field: "post", charged: false } });
    expect(await rewards()).toEqual([]);
  });

  test.for<[string, string, Parameters<MockX["injectFault"]>[0] | object, number]>([
    ["is no link to a post", "https://evil.example.com/x/status/1", {}, 400],
    ["is not there", "99", {}, 422],
    ["is one that X calls no post", "", { status: 400 }, 422],
    ["cannot be read now: X is busy", "", { status: 429 }, 503],
    ["cannot be read now: X fails", "", { status: 503 }, 503],
    ["cannot be read now: X hangs up", "", { hangUp: true }, 503],
    ["cannot be read now: something else answers for X", "", { html: true }, 503],
  ])("pays nothing when the post %s", async ([_name, link, fault, status], { x, market }) => {
    const { ask, key, rewards } = await campaign(market);
    if (Object.keys(fault).length > 0) x.injectFault(fault);
    const post = link || newPost(x, `pay ${buyerWallet}`).id;
    expect(await ask(post)).toMatchObject({ status, body: { charged: false } });
    expect((await balanceOf(market, key)).credits).toBe(1_000);
    expect(await rewards()).toEqual([]);
  });
});

test.for(["0", "9223372036854775808", "9999999999999999999", "https://x.com/i/status/0"])(
  "a post that cannot be, %s, is refused by name before X is asked",
  async (post, { x, market }) => {
    const agent = {
      connector: "x-reward-credits",
      fields,
      settings: { amount: 20, per_day_max: 20, budget: 20, rule: {} },
    };
    const seeded = await seedMarket(market.context, { agent });
    const asked = x.requests();
    const answer = await run(market, seeded.key, seeded.agent.address, { post });
    expect(answer).toMatchObject({ status: 422, body: { field: "post", charged: false } });
    expect(x.requests()).toBe(asked);
  },
);

describe("x-reward-credits", () => {
  const settings = { amount: 20, per_day_max: 1_000, budget: 1_000, rule: {} };
  const campaign = async (market: LedgerMarket, more: object = {}, creatorCredits = 500) => {
    const agent = { connector: "x-reward-credits", fields, settings: { ...settings, ...more } };
    const seeded = await seedMarket(market.context, { agent, balance: 100 });
    if (creatorCredits > 0) {
      await grant(market.context.db, { accountId: seeded.creator.id, credits: credits(BigInt(creatorCredits)) });
    }
    const claim = async (post: string) => (await run(market, seeded.key, seeded.agent.address, { post })).body;
    return { ...seeded, claim };
  };

  test("gives credits of the creator to the buyer whom the post names, once", async ({ x, market }) => {
    const { claim, buyer, creator, key } = await campaign(market);
    const post = newPost(x, `thanks, reward:${buyer.handle}!`);
    const body = await claim(linkTo(post));
    expect(body).toMatchObject({
      success: true,
      credits_used: 5,
      credits_remaining: 115,
      output: { kind: "receipt", status: "SUCCESS", transactionId: body.run_id },
      receipt: { credits: 20, to: buyer.handle, post: post.id },
    });
    expect(await spendable(market.context, creator)).toBe(480);
    expect((await claim(post.id)).error).toContain("rewarded already");
    expect((await balanceOf(market, key)).credits).toBe(115);
    const owner = (await createKey(market.context.db, { accountId: creator.id, name: "owner" })).token;
    expect((await call(market.url, "/api/v1/rewards", { key: owner })).body.rewards).toMatchObject([
      { recipient: buyer.handle, asset: "credits", amount: "20", state: "paid", run_id: body.run_id },
    ]);
  });

  test("under any concurrency: each post once, the budget kept, and never more than the creator has", async ({
    x,
    market,
  }) => {
    const one = await campaign(market);
    const post = newPost(x, `thanks, reward:${one.buyer.handle}`);
    const same = await Promise.all(Array.from({ length: 10 }, () => one.claim(post.id)));
    expect(same.filter(({ success }) => success)).toHaveLength(1);
    for (const [more, creatorCredits] of [
      [{ budget: 70 }, 500],
      [{ per_day_max: 70 }, 500],
      [{}, 70],
    ] as const) {
      const { claim, buyer, creator } = await campaign(market, more, creatorCredits);
      const posts = Array.from({ length: 8 }, () => newPost(x, `thanks, reward:${buyer.handle}`));
      const claims = await Promise.all(posts.map(({ id }) => claim(id)));
      expect(claims.filter(({ success }) => success)).toHaveLength(3);
      expect(await spendable(market.context, creator)).toBe(creatorCredits - 60);
      expect(await spendable(market.context, buyer)).toBe(100 + 60 - 15);
    }
  });

  test("a reward that is being committed when the time limit comes is charged for: the run is not refunded", async ({
    x,
    market,
  }) => {
    const { agent, buyer, creator } = await campaign(market);
    const { db } = market.context;
    const input = { post: newPost(x, `thanks, reward:${buyer.handle}`).id };
    const prepare = async () => {
      const prepared = await prepareRun(market.context, agent.address, input);
      return { ...prepared, runnable: { ...prepared.runnable, timeLimitMs: 5_000 } };
    };
    const lock = 20_261_126;
    await db.query(
      `create function hold_commit() returns trigger language plpgsql set lock_timeout = 0 as $$
         begin perform pg_advisory_xact_lock(${lock}); return null; end $$;
       create constraint trigger hold_commit after insert on effects deferrable initially deferred
         for each row execute function hold_commit()`,
    );
    const isReleasing = async () => {
      const { rowCount } = await db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event in ('transactionid', 'tuple')
           and query like '%runs%' and query not like '%set lease_until%'`,
      );
      return rowCount !== 0;
    };
    const started = await inTransaction(db, async (tx) => {
      await tx.query("set local idle_in_transaction_session_timeout = 0");
      await tx.query("select pg_advisory_xact_lock($1)", [lock]);
      const running = runOnce(market.context, { accountId: buyer.id }, { agent: agent.address, input }, prepare);
      await Promise.race([until(isReleasing), running]);
      return [running];
    }).finally(() => db.query("drop function hold_commit cascade"));
    const { result } = await started[0]!;
    expect(result).toMatchObject({ success: false, error: expect.stringContaining("not known yet") });
    await db.query("update runs set lease_until = now() - interval '1 second' where id = $1", [result.run_id]);
    const ended = async () => (await db.query("select state from runs where id = $1", [result.run_id])).rows[0].state;
    await until(async () => (await ended()) !== "running");
    expect(await ended()).toBe("succeeded");
    const { rows } = await db.query("select kind from postings where run_id = $1 order by kind", [result.run_id]);
    expect(rows.map(({ kind }) => kind)).toEqual(["capture", "hold", "reward"]);
    expect([await spendable(market.context, buyer), await spendable(market.context, creator)]).toEqual([115, 480]);
  });

  test.for<[string, (handle: string) => string]>([
    ["of nobody", () => "thanks, reward:somebody-else"],
    ["with the handle as an ordinary word", (handle: string) => `I love #${handle}, @${handle} and ${handle}!`],
    ["with the handle in an address", (handle: string) => `see https://example.com/${handle}/a`],
    ["with a longer handle", (handle: string) => `thanks, reward:${handle}-2 or reward:${handle}_2`],
    ["with a word before it", (handle: string) => `thanks, noreward:${handle} no.reward:${handle}`],
  ])("a post %s gives nothing", async ([_name, textFor], { x, market }) => {
    const { claim, buyer } = await campaign(market);
    expect((await claim(newPost(x, textFor(buyer.handle)).id)).error).toContain(`does not say reward:${buyer.handle}`);
  });

  test("a creator gives nothing to themselves", async ({ x, market }) => {
    const { creator, agent } = await campaign(market);
    const own = (await createKey(market.context.db, { accountId: creator.id, name: "own" })).token;
    const answer = await run(market, own, agent.address, { post: newPost(x, `thanks, reward:${creator.handle}`).id });
    expect(answer).toMatchObject({ status: 409, body: { charged: false } });
  });

  test("without an account it is not there: no price, no route, no paid tool, and nothing is charged", async ({
    x,
    market,
  }) => {
    const { buyer, creator, agent, key } = await campaign(market);
    const address = market.open.accounts.creator.accountId;
    const wallet = { accountId: creator.id, network: "hedera:testnet", address, checked: true };
    await addPayoutWallet(market.context.db, wallet);
    const detail = await call(market.url, `/api/v1/agents/${agent.address}`, { key });
    expect(detail.body).toMatchObject({ connector: "x-reward-credits", per_call: null });
    const body = { post: newPost(x, `thanks, reward:${buyer.handle}`).id };
    const nowhere = await call(market.url, `/api/agent/${creator.handle}/nothing-here`, { body });
    const proof = Buffer.from('{"x402Version":2,"accepted":{"network":"hedera:testnet"}}').toString("base64");
    for (const headers of [{}, { "payment-signature": proof }]) {
      const answer = await call(market.url, `/api/agent/${agent.address}`, { body, headers });
      expect([answer.status, answer.body]).toEqual([404, nowhere.body]);
    }
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${market.url}/api/x402/mcp`)) as never);
    const called = client.callTool({ name: detail.body.mcp_tool, arguments: body });
    await expect(called).rejects.toThrow("There is no tool");
    await client.close();
    const { executeRun } = await import("../../../marketplace/runs/execute.ts");
    const { prepareRun } = await import("../../../marketplace/runs/prepare.ts");
    const prepared = await prepareRun(market.context, agent.address, body);
    expect(await executeRun(market.context, { runId: "run_x", prepared })).toMatchObject({ success: false });
  });
});
