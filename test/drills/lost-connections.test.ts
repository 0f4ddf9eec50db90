import pg from "pg";
import { createPublicClient, http } from "viem";
import { test as base, expect } from "vitest";
import { usdcStandIn } from "../../infra/local-evm/artifacts.ts";
import { elapse } from "../support/elapse.ts";
import { evmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { proveLedger, seedMarket, startMarketplace, until } from "../support/marketplace.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { kept, part, perFile } from "../support/part.ts";
import { Service } from "../support/service.ts";

const lastsMs = 9_000;
/** Connections are cut in the middle of work, and work that takes all of the machine cuts no more. */
const rest = () => elapse(50, "a buyer rests between two calls");
const price = 10_000n;

const test = base
  .extend(
    "postgres",
    perFile,
    part(() => startOwnPostgres({ durable: false })),
  )
  .extend("setting", perFile, async ({ postgres }, { onCleanup }) => {
    const FACILITATOR_DATABASE_URL = await postgres.createDatabase("facilitator");
    // A budget has its spending added up in the background.
    const variables = { FACILITATOR_DATABASE_URL, EIP155_84532_DAILY_BUDGET_WEI: String(10n ** 19n) };
    return kept(evmSetting(variables), onCleanup);
  })
  .extend("facilitator", perFile, ({ setting }, { onCleanup }) =>
    kept(Service.start("facilitator", setting.variables), onCleanup),
  )
  .extend("market", perFile, async ({ postgres, facilitator }, { onCleanup }) => {
    const databaseUrl = await postgres.createDatabase("marketplace");
    const env = { FACILITATOR_URL: facilitator.url, RUN_LEASE_MS: "3000" };
    return kept(startMarketplace({ databaseUrl, env }), onCleanup);
  })
  .extend("copy", perFile, ({ market }, { onCleanup }) =>
    kept(Service.start("marketplace", market.environment), onCleanup),
  );

/** Ends every other connection of both services again and again, then restarts PostgreSQL, while they work. */
async function cutConnections(postgres: OwnPostgres, untilMs: number): Promise<number> {
  let cut = 0;
  const cutUntil = async (atMs: number) => {
    const client = new pg.Client({ connectionString: postgres.urlOf("postgres") });
    await client.connect();
    while (Date.now() < atMs) {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname in ('facilitator', 'marketplace') and pid <> pg_backend_pid() and random() < 0.5`,
      );
      cut += rowCount ?? 0;
      await elapse(150, "how often connections are cut");
    }
    await client.end();
  };
  await cutUntil(untilMs - lastsMs / 2);
  await postgres.restart(500);
  await cutUntil(untilMs);
  return cut;
}

const statuses = new Map<string, number>();

/** Asks until there is an answer that is no 503; any other 5xx, or no answer, is a failure. */
async function insist(
  what: string,
  url: string,
  init: RequestInit,
): Promise<{ status: number; body: Record<string, unknown> }> {
  for (;;) {
    const response = await fetch(url, init);
    const key = `${what} ${response.status}`;
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
    const text = await response.text();
    if (response.status < 500) return { status: response.status, body: JSON.parse(text) };
    expect(response.status, `${what}: ${text}`).toBe(503);
    expect(Number(response.headers.get("retry-after")), `${what}: ${text}`).toBeGreaterThan(0);
    await elapse(100, "until the caller asks again");
  }
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

test("connections cut and PostgreSQL restarted under load: no service dies, nothing but 503, and every promise is kept", async ({
  postgres,
  setting,
  facilitator,
  market,
  copy,
}) => {
  const { key, agent, buyer } = await seedMarket(market.context, { price: 3, balance: 1_000_000, rateLimit: 100_000 });
  const endsAt = Date.now() + lastsMs;
  let settled = 0n;
  const payers = Array.from({ length: 4 }, async () => {
    const wallet = await setting.fundedBuyer(10n ** 12n);
    while (Date.now() < endsAt) {
      const body = await paymentBody(wallet, setting.terms);
      await insist("/verify", `${facilitator.url}/verify`, post(body));
      for (;;) {
        const { body: answer } = await insist("/settle", `${facilitator.url}/settle`, post(body));
        if (answer.success === true || answer.errorReason === "already_settled") break;
        expect(["settlement_pending", "transaction_failed"], JSON.stringify(answer)).toContain(answer.errorReason);
      }
      settled += 1n;
      await rest();
    }
  });
  let ran = 0;
  const buyers = Array.from({ length: 6 }, async (_, client) => {
    for (let job = 0; Date.now() < endsAt; job += 1) {
      const headers = { authorization: `Bearer ${key}`, "idempotency-key": `client ${client} job ${job}` };
      const asked = post({ agent: agent.address, input: { text: "hello" } }, headers);
      const { status } = await insist("/api/v1/run", `${client % 2 ? copy.url : market.url}/api/v1/run`, asked);
      expect(status).toBe(200);
      ran += 1;
      await rest();
    }
  });
  const [cut] = await Promise.all([cutConnections(postgres, endsAt), ...payers, ...buyers]);
  expect(cut).toBeGreaterThan(50);
  expect(settled).toBeGreaterThan(3n);

  // Everything works again, in the same processes.
  for (const url of [`${facilitator.url}/readyz`, `${market.url}/health`, `${copy.url}/health`]) {
    await expect.poll(async () => (await fetch(url)).status).toBe(200);
  }
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  expect((await insist("/settle", `${facilitator.url}/settle`, post(body))).body).toMatchObject({ success: true });
  const chain = createPublicClient({ transport: http(setting.chain.rpcUrl) });
  const balance = await chain.readContract({
    address: setting.chain.usdc,
    abi: usdcStandIn.abi,
    functionName: "balanceOf",
    args: [setting.terms.payTo as `0x${string}`],
  });
  expect(balance).toBe((settled + 1n) * price);
  const { db } = market.context;
  await until(async () => (await db.query("select from runs where state = 'running'")).rowCount === 0);
  await proveLedger(market.context);
  const { rows } = await db.query(
    "select count(distinct idempotency_key) as runs, count(*) as all from runs where account_id = $1",
    [buyer.id],
  );
  expect(rows[0]).toEqual({ runs: BigInt(ran), all: BigInt(ran) });
  expect([...statuses.keys()].filter((key) => / 5\d\d$/.test(key) && !key.endsWith(" 503"))).toEqual([]);
});
