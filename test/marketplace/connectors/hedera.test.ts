import { TokenCreateTransaction, TokenSupplyType, TokenType } from "@hashgraph/sdk";
import pg from "pg";
import { describe, expect } from "vitest";
import { newId } from "../../../marketplace/ids.ts";
import { executeRun } from "../../../marketplace/runs/execute.ts";
import { prepareRun } from "../../../marketplace/runs/prepare.ts";
import { closeOverdueSideEffects, recoverLostRuns } from "../../../marketplace/runs/recover.ts";
import { startEditingMirror } from "../../support/editing-mirror.ts";
import { elapse } from "../../support/elapse.ts";
import { ledgerMarketTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { allow, type LedgerMarket, newTopic, seedLedgerCreator } from "../../support/ledger-agents.ts";
import { balanceOf, marketplaceContext, proveLedger, run, startMarketplace, until } from "../../support/marketplace.ts";
import { kept, perFile } from "../../support/part.ts";

const test = ledgerMarketTest().extend("jobless", perFile, async ({ market }, { onCleanup }) => {
  const { open, variables, model } = market;
  const jobless = await kept(startMarketplace({ env: variables, model, jobs: false }), onCleanup);
  return { ...jobless, open, variables };
});
test.afterEach(({ market }) => market.open.ledger.faults.clear());
test.afterAll(async ({ market }) => {
  await proveLedger(market.context);
});

const receiptShape = {
  kind: "receipt",
  status: "SUCCESS",
  transactionId: expect.stringMatching(/^0\.0\.1005@\d+\.\d{9}$/),
};
const messagesOf = async (market: LedgerMarket, topic: string) =>
  (await market.open.mirror(`topics/${topic}/messages`)).messages.map((message: { message: string }) =>
    Buffer.from(message.message, "base64").toString(),
  );
/** How many messages are on the chain, which can be told while neither nodes nor mirror answer. */
const writtenOn = ({ ledger }: LedgerMarket["open"], topic: string): number =>
  JSON.parse(ledger.snapshot()).topics.find(({ number }: { number?: number }) => topic === `0.0.${number}`).sequence;
const effectOf = async (market: LedgerMarket, runId: string) =>
  (await market.context.db.query("select * from effects where run_id = $1", [runId])).rows[0];

describe("hcs-write", () => {
  test("writes the message and answers with transaction, topic and sequence", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const topic = await newTopic(market, "open");
    const agent = await publish("hcs-write", { topic, message: "<{{text}}>" });
    const first = await run(market, key, agent.address, { text: "one" });
    expect(first.body).toMatchObject({ success: true, credits_used: 5, output: receiptShape });
    expect(first.body.receipt).toEqual({ topicId: topic, sequence: 1 });
    const second = await run(market, key, agent.address, { text: "two" });
    expect(second.body.receipt).toEqual({ topicId: topic, sequence: 2 });
    expect(await messagesOf(market, topic)).toEqual(["<one>", "<two>"]);
    const id = first.body.output.transactionId;
    expect(
      (await market.open.mirror(`transactions/${id.replace("@", "-").replace(/\.(\d+)$/, "-$1")}`)).transactions,
    ).toMatchObject([{ result: "SUCCESS", name: "CONSENSUSSUBMITMESSAGE" }]);
  });

  describe("of a copy that stood still until its lease had lapsed", () => {
    test.afterAll(({ jobless }) => proveLedger(jobless.context));

    const lapse = ({ context }: LedgerMarket, agentId: string) =>
      context.db.query(
        "update runs set lease_until = now() - interval '1 s' where agent_id = $1 and state = 'running'",
        [agentId],
      );

    /** A run that waits before its transaction is signed, as if its copy had been paused, and whose lease is over. */
    async function pausedRun(market: LedgerMarket) {
      const { key, publish } = await seedLedgerCreator(market);
      const topic = await newTopic(market, "open");
      const agent = await publish("hcs-write", { topic, message: "{{text}}" });
      const operator = market.context.tools.hedera!.operator!;
      const sign = operator.sign.bind(operator);
      const [reached, resumed] = [new Gate(), new Gate()];
      operator.sign = async (...given) => {
        operator.sign = sign;
        reached.open();
        await resumed.opened;
        return sign(...given);
      };
      const running = run(market, key, agent.address, { text: "late" });
      await reached.opened;
      await lapse(market, agent.agentId);
      return { key, topic, agentId: agent.agentId, running, resume: () => resumed.open() };
    }

    test("nothing is written once another copy has given the credits back", async ({ jobless }) => {
      const { key, topic, running, resume } = await pausedRun(jobless);
      expect(await recoverLostRuns(jobless.context)).toBe(1);
      resume();
      expect((await running).body).toMatchObject({ success: false });
      expect(await messagesOf(jobless, topic)).toEqual([]);
      expect(await balanceOf(jobless, key)).toMatchObject({ credits: 100, held_credits: 0 });
    });

    test.for([
      ["", false],
      [", though its lease lapses again before that is known", true],
    ] as const)(
      "nothing is given back when it begins to write at the last moment%s",
      async ([_name, lapses], { jobless }) => {
        const { key, topic, agentId, running, resume } = await pausedRun(jobless);
        const { sideEffects, hedera } = jobless.context.tools;
        const begun = async () =>
          (await jobless.context.db.query("select 1 from effects where agent_id = $1", [agentId])).rows.length > 0;
        const findOfRun: typeof sideEffects.findOfRun = async (id) => {
          const found = await sideEffects.findOfRun(id);
          jobless.open.ledger.faults.set({ consensusDelayMs: 600_000 });
          resume();
          await until(begun);
          if (lapses) await lapse(jobless, agentId);
          return found;
        };
        const tools = { hedera, sideEffects: Object.assign(Object.create(sideEffects), { findOfRun }) };
        expect(await recoverLostRuns({ ...jobless.context, tools })).toBe(0);
        jobless.open.ledger.faults.clear();
        expect((await running).body).toMatchObject({ success: true, credits_used: 5 });
        expect(await messagesOf(jobless, topic)).toEqual(["late"]);
        expect(await balanceOf(jobless, key)).toMatchObject({ credits: 95, held_credits: 0 });
      },
    );

    test("nothing is given back while what it writes is written down, however long that takes", async ({ jobless }) => {
      const { key, agentId, topic, running, resume } = await pausedRun(jobless);
      const { db } = jobless.context;
      const { rows } = await db.query("select id from runs where agent_id = $1", [agentId]);
      const beginning = await db.connect();
      await beginning.query("begin");
      // As it is once the beginning has taken longer than what it moved the lease by.
      await beginning.query("update runs set lease_until = now() - interval '1 s' where id = $1", [rows[0].id]);
      await beginning.query(
        `insert into effects (key, run_id, agent_id, network, transaction_ids, valid_until, state, promised)
         values ('slow', $1, $2, 'hedera:testnet', '{}', now() + interval '1 hour', 'open', '{"kind": "message", "receipt": {}}')`,
        [rows[0].id, agentId],
      );
      const recovering = recoverLostRuns(jobless.context);
      await until(async () => {
        const waiting = await db.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return waiting.rows.length > 0;
      });
      await beginning.query("commit");
      beginning.release();
      expect(await recovering).toBe(0);
      expect(await balanceOf(jobless, key)).toMatchObject({ credits: 95, held_credits: 5 });
      await db.query("update effects set state = 'void' where key = 'slow'");
      resume();
      await running;
      expect(await messagesOf(jobless, topic)).toEqual(["late"]);
    });
  });

  test.for([
    ["was done is paid for once", { consensusDelayMs: 600_000 }, ["succeeded"], 5],
    ["was never done is given back once", { loseTx: 4 }, ["failed", "lost"], 0],
  ] as const)(
    "what %s, though its own copy, the recovery and the closing of overdue effects hear of it at the same moment",
    async ([, faults, states, price], { jobless }) => {
      const { key, creator, publish } = await seedLedgerCreator(jobless);
      const topic = await newTopic(jobless, "open");
      const agent = await publish("hcs-write", { topic, message: "{{text}}" });
      const { context, open } = jobless;
      const { db } = context;
      open.ledger.faults.set(faults);
      const running = Promise.all(["a", "b", "c", "d"].map((text) => run(jobless, key, agent.address, { text })));
      const begun = "select from effects where agent_id = $1 and state = 'open'";
      await until(async () => (await db.query(begun, [agent.agentId])).rows.length === 4);
      await until(async () => open.ledger.faults.current().loseTx === undefined);
      // What was sent is on the chain then, or can be no more, and nobody can ask.
      open.ledger.faults.set({ queryUnavailable: 1_000_000, mirrorUnavailable: 1_000_000, consensusDelayMs: 0 });
      await until(() => writtenOn(open, topic) === (price > 0 ? 4 : 0));
      const overdue = "valid_until = now() - interval '3 minutes'";
      await db.query(`update effects set ${overdue} where agent_id = $1 and state = 'open'`, [agent.agentId]);
      const lapse = () => db.query("update runs set lease_until = now() - interval '1 s' where state = 'running'");
      await lapse();
      const everyone = () =>
        Promise.all([1, 2, 3].flatMap(() => [recoverLostRuns(context), closeOverdueSideEffects(context)]));
      const hearing = everyone();
      open.ledger.faults.clear();
      await Promise.all([running, hearing, everyone()]);
      await lapse();
      await everyone();
      const ended = "select from runs where agent_id = $1 and state = any($2)";
      expect((await db.query(ended, [agent.agentId, states])).rows).toHaveLength(4);
      expect(await balanceOf(jobless, key)).toMatchObject({ credits: 100 - 4 * price, held_credits: 0 });
      expect(await messagesOf(jobless, topic)).toHaveLength(price > 0 ? 4 : 0);
      const earned = "select coalesce(sum(amount), 0)::integer as sum from postings where to_purse = $1";
      expect((await db.query(earned, [`earned:${creator.id}`])).rows).toEqual([{ sum: 4 * price }]);
      await proveLedger(context);
    },
  );

  test("splits a long message; the receipt is that of its last part", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const topic = await newTopic(market, "open");
    const agent = await publish("hcs-write", { topic, message: "{{text}}", bytes_max: 5_000 });
    const text = "é".repeat(1_250);
    const { body } = await run(market, key, agent.address, { text });
    expect(body).toMatchObject({ success: true, receipt: { topicId: topic, sequence: 3 } });
    const { messages } = await market.open.mirror(`topics/${topic}/messages`);
    const bytes = messages.map((message: { message: string }) => Buffer.from(message.message, "base64"));
    expect(Buffer.concat(bytes).toString()).toBe(text);
    expect(messages[2].chunk_info).toMatchObject({ number: 3, total: 3 });
    expect((await effectOf(market, body.run_id)).transaction_ids).toHaveLength(3);
  });

  test("refuses what is empty or too long before anything is sent", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const topic = await newTopic(market, "open");
    const agent = await publish("hcs-write", { topic, message: "{{text}}" });
    for (const text of ["", "é".repeat(513)]) {
      const answer = await run(market, key, agent.address, { text });
      expect(answer).toMatchObject({ status: 422, body: { field: "text", charged: false } });
    }
    expect(await messagesOf(market, topic)).toEqual([]);
    expect((await balanceOf(market, key)).credits).toBe(100);
  });

  test("refuses what would be written as another text than was given", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const topic = await newTopic(market, "open");
    const agent = await publish("hcs-write", { topic, message: "<{{text}}>" });
    const answer = await run(market, key, agent.address, { text: "a\ud83db" });
    expect(answer).toMatchObject({ status: 422, body: { field: "text", charged: false } });
    expect((await run(market, key, agent.address, { text: "a\ud83d\ude00b" })).body.success).toBe(true);
    expect(await messagesOf(market, topic)).toEqual(["<a\ud83d\ude00b>"]);
  });

  test("keeps to its cap of messages a day, under any concurrency", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const topic = await newTopic(market, "open");
    const agent = await publish("hcs-write", { topic, message: "{{text}}", per_day_max: 3 });
    const runs = Array.from({ length: 8 }, (_, n) => run(market, key, agent.address, { text: `${n}` }));
    const answers = await Promise.all(runs);
    expect(answers.filter(({ body }) => body.success)).toHaveLength(3);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(5);
    for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    const later = await run(market, key, agent.address, { text: "one more" });
    expect(later).toMatchObject({ status: 503, body: { error: expect.stringContaining("24 hours") } });
    expect(await messagesOf(market, topic)).toHaveLength(3);
    expect((await balanceOf(market, key)).credits).toBe(85);
  });

  test("is published only on topics it may write to and, where only it may, on the creator's own", async ({
    market,
  }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const own = await newTopic(market, "creator's");
    const agent = await publish("hcs-write", { topic: own, message: "{{text}}" });
    expect((await run(market, key, agent.address, { text: "mine" })).body.success).toBe(true);
    const foreign = await newTopic(market, "somebody's");
    await expect(publish("hcs-write", { topic: foreign, message: "x" })).rejects.toThrow("must be yours");
    await expect(publish("hcs-write", { topic: "0.0.999999", message: "x" })).rejects.toMatchObject({
      message: '"settings.topic" must be a topic that is there: there is no topic 0.0.999999.',
      body: { field: "settings.topic" },
    });
    // The field and what it may be, each once.
    await expect(publish("hcs-write", { topic: own, message: "x", network: "hedera:mainnet" })).rejects.toMatchObject({
      message: '"settings.network" must be hedera:testnet, where agents act here.',
      body: { field: "settings.network" },
    });
    const walletless = await seedLedgerCreator(market);
    await market.context.db.query("update payout_wallets set state = 'retired' where account_id = $1", [
      walletless.creator.id,
    ]);
    await expect(walletless.publish("hcs-write", { topic: own, message: "x" })).rejects.toThrow(
      "no checked payout wallet",
    );
  });
});

describe("hedera-transfer", () => {
  const settings = { asset: "hbar", to: "{{to}}", amount: "{{amount}}", per_run_max: "1000", per_day_max: "2500" };

  test("moves HBAR out of the creator's allowance, and the operator pays the fee", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    await allow(market, 100_000);
    const agent = await publish("hedera-transfer", settings);
    const { creator, buyer } = market.open.accounts;
    const before = [
      await market.open.hbarBalance(creator.accountId),
      await market.open.hbarBalance(buyer.accountId),
    ] as const;
    const { body } = await run(market, key, agent.address, { to: buyer.accountId, amount: "700" });
    expect(body).toMatchObject({ success: true, output: receiptShape });
    expect(body.receipt).toEqual({ asset: "hbar", amount: "700", from: creator.accountId, to: buyer.accountId });
    expect(await market.open.hbarBalance(creator.accountId)).toBe(before[0] - 700n);
    expect(await market.open.hbarBalance(buyer.accountId)).toBe(before[1] + 700n);
  });

  test("moves a token, to an EVM address as well", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const { creator, buyer } = market.open.accounts;
    market.open.ledger.faucet.giveToken(creator.accountId, 5_000n);
    await allow(market, 2_000, market.open.ledger.usdc);
    const agent = await publish("hedera-transfer", { ...settings, asset: market.open.ledger.usdc });
    const before = (await market.open.tokenBalance(buyer.accountId))!;
    const to = (await market.open.mirror(`accounts/${buyer.accountId}`)).evm_address;
    const { body } = await run(market, key, agent.address, { to, amount: "900" });
    expect(body).toMatchObject({ success: true, receipt: { asset: market.open.ledger.usdc, to: buyer.accountId } });
    expect(await market.open.tokenBalance(buyer.accountId)).toBe(before + 900);
  });

  test.for([
    ["more than a run may", { amount: "1001" }, 422],
    ["nothing", { amount: "0" }, 400],
    ["less than nothing", { amount: "-5" }, 400],
    ["a fraction", { amount: "1.5" }, 400],
    ["to nobody", { to: "0.0.987654" }, 422],
    ["to what is no account", { to: "https://example.com" }, 400],
    ["to the creator", { to: "0.0.1002" }, 422],
    ["to the marketplace", { to: "0.0.1005" }, 422],
  ] as const)("moves nothing when asked to move %s, and costs nothing", async ([_name, input, status], { market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    await allow(market, 100_000);
    const agent = await publish("hedera-transfer", settings);
    const answer = await run(market, key, agent.address, { to: "0.0.1003", amount: "5", ...input });
    expect(answer).toMatchObject({ status, body: { field: Object.keys(input)[0], charged: false } });
    expect((await balanceOf(market, key)).credits).toBe(100);
    const { rows } = await market.context.db.query("select 1 from effects where agent_id = $1", [agent.agentId]);
    expect(rows).toEqual([]);
  });

  test("keeps to the day's cap under any concurrency, and what failed does not count", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    await allow(market, 100_000);
    const agent = await publish("hedera-transfer", settings);
    market.open.ledger.faults.set({ throttleAtConsensus: 1 });
    const failed = await run(market, key, agent.address, { to: "0.0.1003", amount: "1000" });
    expect(failed.body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 100 });
    const runs = Array.from({ length: 6 }, () => run(market, key, agent.address, { to: "0.0.1003", amount: "1000" }));
    const worked = (await Promise.all(runs)).filter(({ body }) => body.success);
    expect(worked).toHaveLength(2);
    expect((await balanceOf(market, key)).credits).toBe(90);
  });

  test("is published only with an allowance, asks for it again at every run, and fails when it is gone", async ({
    market,
  }) => {
    const { key, publish } = await seedLedgerCreator(market);
    await allow(market, 500);
    await expect(publish("hedera-transfer", settings)).rejects.toThrow("Approve an allowance");
    await allow(market, 1_500);
    const agent = await publish("hedera-transfer", settings);
    const give = () => run(market, key, agent.address, { to: "0.0.1003", amount: "1000" });
    expect((await give()).body.success).toBe(true);
    expect(await give()).toMatchObject({ status: 503, body: { charged: false } });
    expect((await balanceOf(market, key)).credits).toBe(95);
  });

  test("counts what was taken until the mirror shows it, however far behind it is", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    await allow(market, 1_500);
    const agent = await publish("hedera-transfer", settings);
    const mirror = await startEditingMirror(market.open.ledger.mirrorUrl);
    const { creator } = market.open.accounts;
    mirror.edits.set(`/api/v1/accounts/${creator.accountId}/allowances/crypto`, { allowances: [{ amount: 1_500 }] });
    const aMinuteAgo = `${Math.floor(Date.now() / 1_000) - 60}.0`;
    mirror.edits.set("/api/v1/blocks", { blocks: [{ timestamp: { from: aMinuteAgo, to: aMinuteAgo } }] });
    const lagging = await startMarketplace({
      databaseUrl: market.databaseUrl,
      model: market.model,
      env: { ...market.variables, HEDERA_MIRROR: mirror.url },
    });
    const take = () => run(lagging, key, agent.address, { to: "0.0.1003", amount: "1000" });
    const { db } = market.context;
    const putBack = (interval: string) =>
      db.query("update reservations set spent_at = spent_at - $1::interval where spent_at is not null", [interval]);
    // What others took here before is in these figures.
    await putBack("1 hour");
    expect((await take()).body.success).toBe(true);
    await putBack("40 s");
    expect(await take()).toMatchObject({ status: 503, body: { charged: false } });
    const { rows } = await db.query("select state from effects where agent_id = $1", [agent.agentId]);
    expect(rows).toEqual([{ state: "done" }]);
    await lagging.stop();
    await mirror.close();
  });

  test.for([
    ["lists no block", { blocks: [] }],
    ["does not say how far its newest block reaches", { blocks: [{ timestamp: { from: "1.0", to: null } }] }],
  ] as const)("takes nothing, and says to try again, where the mirror %s", async ([_what, blocks], { market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    await allow(market, 1_500);
    const agent = await publish("hedera-transfer", settings);
    const mirror = await startEditingMirror(market.open.ledger.mirrorUrl);
    mirror.edits.set("/api/v1/blocks", blocks);
    const blind = await startMarketplace({
      databaseUrl: market.databaseUrl,
      model: market.model,
      env: { ...market.variables, HEDERA_MIRROR: mirror.url },
    });
    const answer = await run(blind, key, agent.address, { to: "0.0.1003", amount: "1000" });
    expect(answer).toMatchObject({ status: 503, body: { charged: false } });
    expect(answer.body.error).toContain("mirror does not answer");
    await blind.stop();
    await mirror.close();
  });

  test("takes from nobody's wallet but the creator's, whoever allowed the operator something", async ({ market }) => {
    const other = await seedLedgerCreator(market);
    await allow(market, 100_000);
    await market.context.db.query("update payout_wallets set address = '0.0.1003' where account_id = $1", [
      other.creator.id,
    ]);
    await expect(other.publish("hedera-transfer", settings)).rejects.toThrow(
      "0.0.1003 allows the marketplace's account",
    );
  });
});

describe("hedera-mint", () => {
  const createToken = async (market: LedgerMarket, more: (create: TokenCreateTransaction) => void = () => {}) => {
    const { accounts, keys } = market.open;
    const create = new TokenCreateTransaction()
      .setTokenName("Minted")
      .setTokenSymbol("MNT")
      .setTreasuryAccountId(accounts.creator.accountId)
      .setSupplyKey(keys.operator.publicKey);
    more(create);
    return (await market.open.run(create, keys.creator)).tokenId!.toString();
  };
  const caps = { per_run_max: "1000", per_day_max: "5000" };

  test("mints units into the creator's wallet", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const token = await createToken(market);
    const agent = await publish("hedera-mint", { token, amount: "{{amount}}", ...caps });
    const { body } = await run(market, key, agent.address, { amount: "250" });
    expect(body).toMatchObject({ success: true, output: receiptShape });
    expect(body.receipt).toEqual({ tokenId: token, amount: "250", totalSupply: "250" });
    expect(await market.open.tokenBalance(market.open.accounts.creator.accountId, token)).toBe(250);
    expect((await run(market, key, agent.address, { amount: "1001" })).status).toBe(422);
  });

  test("mints NFTs with their metadata", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const token = await createToken(market, (create) => create.setTokenType(TokenType.NonFungibleUnique));
    const agent = await publish("hedera-mint", { token, metadata: ["ipfs://{{text}}", "two"], ...caps });
    const { body } = await run(market, key, agent.address, { text: "abc" });
    expect(body.receipt).toMatchObject({ tokenId: token, serials: [1, 2] });
    const { nfts } = await market.open.mirror(`tokens/${token}/nfts`);
    expect(nfts.map((nft: { metadata: string }) => Buffer.from(nft.metadata, "base64").toString()).sort()).toEqual([
      "ipfs://abc",
      "two",
    ]);
    const tooLong = await run(market, key, agent.address, { text: "x".repeat(94) });
    expect(tooLong).toMatchObject({ status: 422, body: { field: "text", charged: false } });
    const few = { token, metadata: ["one", "two"], per_run_max: "1", per_day_max: "5" };
    await expect(publish("hedera-mint", few)).rejects.toThrow('"settings.metadata" must have no more NFTs');
  });

  test("a supply that is used up is known before the run, which costs nothing", async ({ market }) => {
    const { key, publish } = await seedLedgerCreator(market);
    const token = await createToken(market, (create) => create.setSupplyType(TokenSupplyType.Finite).setMaxSupply(100));
    const agent = await publish("hedera-mint", { token, amount: "{{amount}}", ...caps });
    expect(await run(market, key, agent.address, { amount: "101" })).toMatchObject({
      status: 503,
      body: { charged: false },
    });
    const halves = await Promise.all(
      [60, 60].map((amount) => run(market, key, agent.address, { amount: `${amount}` })),
    );
    expect(halves.map(({ status }) => status).sort()).toEqual([200, 503]);
    expect((await run(market, key, agent.address, { amount: "40" })).body.success).toBe(true);
    expect((await balanceOf(market, key)).credits).toBe(90);
  });

  test("is published only on the creator's own tokens whose supply key is the operator's", async ({ market }) => {
    const { publish } = await seedLedgerCreator(market);
    const { accounts, keys } = market.open;
    const foreignKey = await createToken(market, (create) => create.setSupplyKey(keys.buyer.publicKey));
    await expect(publish("hedera-mint", { token: foreignKey, amount: "1", ...caps })).rejects.toThrow("supply key");
    const foreign = new TokenCreateTransaction()
      .setTokenName("F")
      .setTokenSymbol("F")
      .setTreasuryAccountId(accounts.buyer.accountId);
    const { tokenId } = await market.open.run(foreign.setSupplyKey(keys.operator.publicKey), keys.buyer);
    await expect(publish("hedera-mint", { token: `${tokenId}`, amount: "1", ...caps })).rejects.toThrow("treasury");
    const unique = await createToken(market, (create) => create.setTokenType(TokenType.NonFungibleUnique));
    await expect(publish("hedera-mint", { token: unique, amount: "1", ...caps })).rejects.toThrow("collection");
    await expect(publish("hedera-mint", { token: unique, amount: "1", metadata: ["x"], ...caps })).rejects.toThrow(
      "not both",
    );
  });
});

test("an operator that is a fee payer of the facilitator writes nothing", async ({ market }) => {
  const facilitator = await startHttpServer((_request, response) => {
    const signers = { "hedera:*": [market.open.accounts.operator.accountId] };
    response.setHeader("content-type", "application/json").end(JSON.stringify({ kinds: [], extensions: [], signers }));
  });
  const careless = await startMarketplace({
    databaseUrl: market.databaseUrl,
    model: market.model,
    env: { ...market.variables, FACILITATOR_URL: facilitator.url },
  });
  const { key, publish } = await seedLedgerCreator(market);
  const topic = await newTopic(market, "open");
  const agent = await publish("hcs-write", { topic, message: "{{text}}" });
  expect((await run(careless, key, agent.address, { text: "x" })).status).toBe(503);
  expect(await messagesOf(market, topic)).toEqual([]);
  await careless.stop();
  await facilitator.stop();
});

describe("whatever the ledger does", () => {
  const writer = async (market: LedgerMarket) => {
    const seeded = await seedLedgerCreator(market);
    const topic = await newTopic(market, "open");
    const agent = await seeded.publish("hcs-write", { topic, message: "{{text}}" });
    return { ...seeded, topic, agent };
  };

  test.for([
    ["busy nodes", { busy: 2 }],
    ["unreachable nodes", { unavailable: 2 }],
    ["a reply that never comes", { dropReply: 1 }],
    ["a reply that is torn off", { resetReply: 1 }],
    ["receipts that cannot be read at first", { queryUnavailable: 5 }],
    ["a mirror that is late", { mirrorLagMs: 1_000 }],
    ["receipts that are gone at once", { receiptTtlMs: 1 }],
  ] as const)("%s: the message is written once and charged once", async ([_name, faults], { market }) => {
    const { key, topic, agent } = await writer(market);
    if ("mirrorLagMs" in faults) await elapse(1_200, "the mirror shows what the test stands on, however late it is");
    market.open.ledger.faults.set(faults);
    const { body } = await run(market, key, agent.address, { text: "once" });
    expect(body).toMatchObject({ success: true, credits_used: 5, receipt: { topicId: topic } });
    market.open.ledger.faults.clear();
    expect(await messagesOf(market, topic)).toEqual(["once"]);
    expect((await balanceOf(market, key)).credits).toBe(95);
  });

  test("the transaction id is in the side-effect journal before a node has it", async ({ market }) => {
    const { key, topic, agent } = await writer(market);
    const book = new pg.Client({ connectionString: market.databaseUrl });
    await book.connect();
    await book.query("begin");
    await book.query("lock table effects in exclusive mode");
    const answer = run(market, key, agent.address, { text: "slow" });
    const waiting = "select from pg_locks where relation = 'effects'::regclass and not granted";
    try {
      await expect.poll(async () => (await book.query(waiting)).rowCount).toBeGreaterThan(0);
      expect(await messagesOf(market, topic)).toEqual([]);
    } finally {
      // Its lock ends with it.
      await book.end();
    }
    expect((await answer).body.success).toBe(true);
    expect((await effectOf(market, (await answer).body.run_id)).state).toBe("done");
  });

  test("a payment that is run again, also at the same time, has its effect once and the same result", async ({
    market,
  }) => {
    const { agent, topic } = await writer(market);
    const prepared = await prepareRun(market.context, agent.address, { text: "paid once" });
    const execute = () =>
      executeRun(market.context, { runId: newId("run"), prepared, effectKey: `payment/${agent.agentId}` });
    const together = await Promise.all([execute(), execute(), execute()]);
    expect(together.filter(({ success }) => success).length).toBeGreaterThan(0);
    expect(together.every((outcome) => outcome.success || outcome.unknown)).toBe(true);
    const later = await execute();
    expect(later).toEqual(together.find(({ success }) => success));
    expect(await messagesOf(market, topic)).toEqual(["paid once"]);
  });

  test("a payment whose effect came to nothing may have it at the next try", async ({ market }) => {
    const { agent, topic } = await writer(market);
    const prepared = await prepareRun(market.context, agent.address, { text: "second try" });
    const execute = () =>
      executeRun(market.context, { runId: newId("run"), prepared, effectKey: `payment/${agent.agentId}` });
    market.open.ledger.faults.set({ throttleAtConsensus: 1 });
    const first = await execute();
    expect(first).toMatchObject({ success: false });
    expect(first).not.toHaveProperty("unknown");
    expect(await execute()).toMatchObject({ success: true });
    expect(await messagesOf(market, topic)).toEqual(["second try"]);
  });

  test("what nobody waits for any more is closed as the ledger says", async ({ market }) => {
    const { key, agent } = await writer(market);
    const { body } = await run(market, key, agent.address, { text: "done" });
    const past = new Date(Date.now() - 300_000);
    const seconds = Math.floor(past.getTime() / 1_000) - 60;
    const { rows } = await market.context.db.query(
      `update effects set state = 'open', output = null, receipt = null, valid_until = $2 where run_id = $1 returning key`,
      [body.run_id, past],
    );
    await market.context.db.query(
      `insert into effects (key, run_id, agent_id, network, transaction_ids, valid_until, state, promised)
       values ('trial', 'run_trial', $1, 'hedera:testnet', array[$2], $3, 'open', '{"kind": "message", "receipt": {}}')`,
      [agent.agentId, `0.0.1005@${seconds}.000000001`, past],
    );
    await market.context.db.query(
      `insert into effects (key, run_id, agent_id, network, transaction_ids, valid_until, state, promised)
       select 'elsewhere ' || n, 'run_elsewhere_' || n, $1, 'hedera:previewnet', '{0.0.1005@1.000000001}', now() - interval '1 day',
         'open', '{"kind": "message", "receipt": {}}' from generate_series(1, 100) n`,
      [agent.agentId],
    );
    await closeOverdueSideEffects(market.context);
    const states = await market.context.db.query("select key, state from effects where key = any($1) order by state", [
      [rows[0].key, "trial"],
    ]);
    expect(states.rows).toEqual([
      { key: rows[0].key, state: "done" },
      { key: "trial", state: "void" },
    ]);
  });

  test.for([
    ["unknown", "an order that lives long, since nodes have forgotten receipts before its end", 90, 90_000],
    ["failed", "one that lives short", 15, 30_000],
  ] as const)(
    "what neither nodes nor a mirror that is behind have a record of is %s where it is of %s",
    async ([ending, _what, validSeconds, agoMs], { market }) => {
      const behind = await startEditingMirror(market.open.ledger.mirrorUrl);
      behind.edits.set("/api/v1/blocks", { blocks: [{ timestamp: { from: "0.0", to: "1.0" } }] });
      const env = { ...market.variables, HEDERA_MIRROR: behind.url, HEDERA_VALID_SECONDS: String(validSeconds) };
      const context = await marketplaceContext(env);
      const validUntil = new Date(Date.now() - agoMs);
      const seconds = Math.floor(validUntil.getTime() / 1_000) - 2 * validSeconds;
      const transactionIds = [`0.0.1005@${seconds}.000000001`, `0.0.1005@${seconds}.000000002`];
      const promised = { kind: "message", receipt: {} } as const;
      const found = await context.tools.hedera!.endingOf({ transactionIds, validUntil, promised });
      expect(found).toMatchObject({ ending });
      await context.stop();
      await behind.close();
    },
  );

  test("a transaction that the mirror comes to while it is asked has happened", async ({ market }) => {
    let isThere = false;
    const record = { result: "SUCCESS", nonce: 0, scheduled: false, consensus_timestamp: "1.0", charged_tx_fee: 1 };
    const catchingUp = await startHttpServer((request, response) => {
      const isBlocks = request.url!.startsWith("/api/v1/blocks");
      isThere ||= isBlocks;
      const answer = isBlocks ? { blocks: [{ timestamp: { to: "9999999999.0" } }] } : { transactions: [record] };
      response.writeHead(isThere ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
    const context = await marketplaceContext({ ...market.variables, HEDERA_MIRROR: catchingUp.url });
    const validUntil = new Date(Date.now() - 600_000);
    const transactionIds = [`0.0.1005@${Math.floor(validUntil.getTime() / 1_000) - 60}.000000001`];
    const promised = { kind: "transfer", receipt: {} } as const;
    expect(await context.tools.hedera!.endingOf({ transactionIds, validUntil, promised })).toEqual({
      ending: "done",
      receipt: {},
    });
    await context.stop();
    await catchingUp.stop();
  });

  test("all nodes busy: nothing happened, nothing is charged", async ({ market }) => {
    const { key, topic, agent } = await writer(market);
    market.open.ledger.faults.set({ busy: 100 });
    const { body } = await run(market, key, agent.address, { text: "never" });
    expect(body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 100 });
    expect(body.error).toContain("busy");
    market.open.ledger.faults.clear();
    expect(await messagesOf(market, topic)).toEqual([]);
  });

  test("a transaction that a node took and lost is refunded, and not before it can no longer happen", async ({
    market,
  }) => {
    const { key, agent, topic } = await writer(market);
    market.open.ledger.faults.set({ loseTx: 1 });
    const startedAt = Date.now();
    const { body } = await run(market, key, agent.address, { text: "lost" });
    expect(Date.now() - startedAt).toBeGreaterThan(15_000);
    expect(body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 100 });
    expect(await messagesOf(market, topic)).toEqual([]);
    expect((await effectOf(market, body.run_id)).state).toBe("void");
  });
});

class Gate {
  open = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}
