import { expect, vi } from "vitest";
import { amongUnfinished, hasNotEnded } from "../../facilitator/payment-states.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { evmTest } from "../support/fixtures.ts";
import { perFile } from "../support/part.ts";

const test = evmTest().extend("scrape", perFile, ({ facilitator }) => async (): Promise<Scraped> => {
  const response = await fetch(`${facilitator.url}/metrics`);
  expect(response.status).toBe(200);
  const text = await response.text();
  const samples = new Map(
    text.split("\n").flatMap((line) => {
      const [, name, value] = /^([^#].*) (\S+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
  return { text, type: response.headers.get("content-type"), valueAt: (sample) => samples.get(sample) };
});

interface Scraped {
  readonly text: string;
  readonly type: string | null;
  valueAt(sample: string): number | undefined;
}

test("every line is of the Prometheus text format, and every sample belongs to a described family", async ({
  facilitator,
  setting,
  scrape,
}) => {
  await facilitator.verify(await paymentBody(await setting.fundedBuyer(), setting.terms));
  const { text, type } = await scrape();
  expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(text.endsWith("\n")).toBe(true);
  const described = new Set<string>();
  for (const line of text.trimEnd().split("\n")) {
    const [, family] = /^# TYPE ([a-z_]+) (?:counter|gauge|histogram)$/.exec(line) ?? [];
    if (family) described.add(family);
    else if (!/^# HELP [a-z_]+ \S/.test(line)) {
      const [, name = ""] = /^([a-z_]+)(?:\{[a-z_]+="[^"\n]*"(?:,[a-z_]+="[^"\n]*")*\})? -?[\d.e+-]+$/.exec(line) ?? [];
      expect(described, line).toContain(name.replace(/_(bucket|sum|count)$/, ""));
    }
  }
});

test("answers are counted by outcome, and their times add up", async ({ scrape, facilitator, setting }) => {
  const answered = `facilitator_answers_total{verb="settle",network="eip155:84532",outcome="settled",reason=""}`;
  const refused = (text: string) =>
    [
      ...text.matchAll(
        /^facilitator_answers_total\{verb="verify",network="eip155:84532",outcome="refused".*\} (\d+)$/gm,
      ),
    ]
      .map(([, value]) => Number(value))
      .reduce((total, value) => total + value, 0);
  const before = await scrape();
  await facilitator.settle(await paymentBody(await setting.fundedBuyer(), setting.terms));
  await facilitator.verify(await paymentBody(await setting.fundedBuyer(1n), setting.terms));
  const after = await scrape();
  expect(after.valueAt(answered)).toBe((before.valueAt(answered) ?? 0) + 1);
  expect(refused(after.text)).toBe(refused(before.text) + 1);
  const series = `verb="settle",network="eip155:84532"`;
  const count = after.valueAt(`facilitator_answer_seconds_count{${series}}`);
  expect(count).toBe(1);
  expect(after.valueAt(`facilitator_answer_seconds_bucket{${series},le="+Inf"}`)).toBe(count);
  expect(after.valueAt(`facilitator_answer_seconds_bucket{${series},le="60"}`)).toBe(count);
  expect(after.valueAt(`facilitator_answer_seconds_sum{${series}}`)).toBeGreaterThan(0);
});

test("answers of 5xx are counted by verb and status, and what a caller got wrong is none of them", async ({
  scrape,
  facilitator,
  setting,
}) => {
  const { db } = facilitator.context;
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  expect((await facilitator.verify({ x402Version: {} })).status).toBe(400);
  await db.query("alter table payments rename to mislaid_payments");
  try {
    expect((await facilitator.settle(body)).status).toBe(500);
  } finally {
    await db.query("alter table mislaid_payments rename to payments");
  }
  const { text } = await scrape();
  const errors = text.split("\n").filter((line) => line.includes('outcome="error"'));
  expect(errors).toEqual(['facilitator_answers_total{verb="settle",network="",outcome="error",reason="500"} 1']);
  expect((await facilitator.settle(body)).body.success).toBe(true);
});

test("a fee payer's balance is read from the chain", async ({ scrape, setting }) => {
  const { valueAt, text } = await scrape();
  const [line = ""] = /^facilitator_fee_payer_balance\{.*$/m.exec(text) ?? [];
  expect(line).toContain(`network="eip155:84532"`);
  expect(line).toContain(`unit="ETH"`);
  expect(line.toLowerCase()).toContain(setting.signer.toLowerCase());
  expect(Number(line.split(" ").at(-1))).toBeGreaterThan(9);
  expect(valueAt("facilitator_settlements_uncounted")).toBeGreaterThanOrEqual(0);
});

test("each background job says that it is well, and each run that fails is counted", async ({
  facilitator,
  scrape,
}) => {
  const task = "read which payers must wait";
  const valueNow = async (name: string) => (await scrape()).valueAt(`${name}{task="${task}"}`);
  const failed = vi
    .spyOn(facilitator.context.cooldowns, "read")
    .mockRejectedValueOnce(new Error("the database is away"));
  await expect.poll(() => valueNow("facilitator_job_failures_total"), { timeout: 60_000 }).toBeGreaterThan(0);
  failed.mockRestore();
  await expect.poll(() => valueNow("facilitator_job_troubled"), { timeout: 60_000 }).toBe(0);
});

test("what a caller makes up does not become a label", async ({ setting, facilitator, scrape }) => {
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const made = `made-up"}\n# HELP`;
  await facilitator.verify({ ...body, paymentRequirements: { ...body.paymentRequirements, network: made } });
  const { text } = await scrape();
  expect(text).not.toContain("made-up");
  expect(text).toMatch(/verb="verify",network="",outcome="refused",reason="invalid_network"/);
});

test("nothing in it is a secret", async ({ scrape, setting }) => {
  const { text } = await scrape();
  const { href, host } = new URL(setting.chain.rpcUrl);
  for (const secret of [setting.variables.EIP155_84532_SIGNERS as string, href, host])
    expect(text).not.toContain(secret);
});

test("after a burst, what is under way is found by its ids and not by reading every payment", async ({
  facilitator,
}) => {
  const client = await facilitator.context.db.connect();
  try {
    await client.query("begin");
    // No holds are placed.
    await client.query("set local session_replication_role = replica");
    await client.query(
      `with ended as (
         insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, transaction_id,
                               expires_at, lease_until)
         select 'eip155:84532', 'burst-' || n, 'settled', gen_random_uuid(), 'exact', '0xa', '0xb', '0xc', 1, '0x' || n, now(), now()
           from generate_series(1, 10000) n returning id)
       insert into unfinished_payments select id from ended`,
    );
    await client.query("analyze payments, unfinished_payments");
    await client.query("delete from unfinished_payments");
    const { rows } = await client.query(
      `explain select network from payments where ${amongUnfinished} and ${hasNotEnded} and lease_until < now()`,
    );
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toMatch(/Index Scan using payments_pkey on payments/);
  } finally {
    await client.query("rollback");
    client.release();
  }
});

test("however many ask how it is, and for figures, the database is asked a few times", async ({ facilitator }) => {
  const { db } = facilitator.context;
  const asked: string[] = [];
  const query = vi.spyOn(db, "query").mockImplementation(((statement: unknown, ...rest: unknown[]) => {
    asked.push(typeof statement === "string" ? statement : (statement as { text: string }).text);
    return Reflect.apply(Object.getPrototypeOf(db).query, db, [statement, ...rest]);
  }) as typeof db.query);
  try {
    const paths = ["/health", "/readyz", "/metrics"].flatMap((path) => Array<string>(30).fill(path));
    const statuses = await Promise.all(paths.map(async (path) => (await fetch(`${facilitator.url}${path}`)).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(asked.filter((text) => text === "select 1").length).toBeLessThanOrEqual(2);
    expect(asked.filter((text) => text.includes("from uncounted_settlements")).length).toBeLessThan(15);
  } finally {
    query.mockRestore();
  }
});
