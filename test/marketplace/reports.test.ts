import { describe, expect } from "vitest";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { deleteExpiredRows } from "../../marketplace/expired-rows.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { reportAgent } from "../../marketplace/reports/report-agent.ts";
import { marketTest } from "../support/fixtures.ts";
import { type Market, seedMarket, type TestMarketplace } from "../support/marketplace.ts";

const test = marketTest();

const said = (more: object = {}) => ({ reason: "deceptive", text: "It answers nothing.", ...more });
let visitors = 0;
const newAddress = () => `10.1.${Math.floor(++visitors / 250)}.${visitors % 250}`;
const report = (
  market: TestMarketplace,
  seeded: Market,
  more: object = {},
  address = newAddress(),
  agent = seeded.agent.address,
) => reportAgent(market.context, agent, { address, said: said(more) });
const operator = async (market: TestMarketplace, ...args: string[]) =>
  JSON.parse(await runCommand([...args, "--json"], market.environment));

async function freshAgent(market: TestMarketplace) {
  const { agent } = await seedMarket(market.context);
  return agent.address;
}

describe("a report of an agent", () => {
  test("reaches the operator with all that was said, and leaves the list when it is resolved", async ({
    market,
    seeded,
  }) => {
    const { id } = await report(market, seeded, { email: "reader@example.com" });
    const open = await operator(market, "report", "list");
    expect(open.find((one: { id: string }) => one.id === id)).toMatchObject({
      agent: seeded.agent.address,
      state: "live",
      version: 1,
      reason: "deceptive",
      text: "It answers nothing.",
      email: "reader@example.com",
    });
    expect(await operator(market, "report", "resolve", "--id", id, "--note", "spoke to them")).toMatchObject({ id });
    const still = (await operator(market, "report", "list")).map((one: { id: string }) => one.id);
    expect(still).not.toContain(id);
    const all = await operator(market, "report", "list", "--all");
    expect(all.find((one: { id: string }) => one.id === id)).toMatchObject({ note: "spoke to them" });
  });

  test("keeps no address of the visitor beside what was said", async ({ market, seeded }) => {
    const { id } = await report(market, seeded, {}, "203.0.113.77");
    const { rows } = await market.context.db.query("select * from reports where id = $1", [id]);
    expect(JSON.stringify(rows)).not.toContain("203.0.113.77");
  });

  test.for<[string, object, string]>([
    ["no reason", { reason: "" }, '"reason"'],
    ["no text", { text: "   " }, '"text" must say what is wrong'],
    ["a text of 2,001 characters", { text: "x".repeat(2_001) }, '"text" must be at most 2000 characters'],
    ["a text with NUL", { text: "a\0b" }, '"text" must not contain NUL'],
    ["an e-mail address that is none", { email: "reader" }, '"email" must be an e-mail address'],
  ])("with %s is refused by the field's name", async ([_what, more, message], { market, seeded }) => {
    await expect(report(market, seeded, more)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(message),
    });
  });

  test("takes a text of 2,000 characters, whatever they are", async ({ market, seeded }) => {
    await expect(report(market, seeded, { text: "ł".repeat(2_000) })).resolves.toHaveProperty("id");
    await expect(report(market, seeded, { text: "<script>'; drop table reports; --" })).resolves.toHaveProperty("id");
  });

  test("of an agent that is not live is refused as one of none is", async ({ market, seeded }) => {
    const hidden = await freshAgent(market);
    await moveAgent(market.context.db, hidden, "unpublish");
    const refused = { status: 404, message: "There is no such agent." };
    await expect(report(market, seeded, {}, newAddress(), hidden)).rejects.toMatchObject(refused);
    await expect(report(market, seeded, {}, newAddress(), "no/agent")).rejects.toMatchObject(refused);
  });
});

test("what a visitor writes steers no operator's terminal, and looks like no line of the list", async ({
  market,
  seeded,
}) => {
  const text = "Bad.\u001b]52;c;cm0gLXJm\u0007\u009b2J\r\nid: rpt_forged\nstate: live\tof it";
  const { id } = await report(market, seeded, { text });
  const printed = await runCommand(["report", "list"], market.environment);
  expect(printed).toContain(`id: ${id}`);
  expect(printed).toContain("text: Bad.]52;c;cm0gLXJm2J\n  id: rpt_forged\n  state: live\tof it");
  const json = await runCommand(["report", "list", "--json"], market.environment);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
  for (const all of [printed, json]) expect(all).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  expect(JSON.parse(json).find((one: { id: string }) => one.id === id).text).toBe(text);
});

describe("reports are limited", () => {
  test("to ten a day from one address, over all its agents, however many come at once", async ({ market, seeded }) => {
    const address = newAddress();
    const sent = await Promise.allSettled(Array.from({ length: 14 }, () => report(market, seeded, {}, address)));
    const refused = sent.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(4);
    expect(refused[0]).toMatchObject({
      reason: { status: 429, headers: { "retry-after": expect.stringMatching(/^\d+$/) } },
    });
    await expect(report(market, seeded, {}, address, await freshAgent(market))).rejects.toMatchObject({ status: 429 });
  });

  test("counting the addresses of one IPv6 customer as one", async ({ market, seeded }) => {
    const agent = await freshAgent(market);
    for (let n = 1; n <= 10; n += 1) await report(market, seeded, {}, `2001:db8:1:2::${n}`, agent);
    await expect(report(market, seeded, {}, "2001:db8:1:2:ffff::1", agent)).rejects.toMatchObject({ status: 429 });
    await expect(report(market, seeded, {}, "2001:db8:1:3::1", agent)).resolves.toHaveProperty("id");
  });

  test("to fifty a day on one agent, without taking anything from the addresses that come too late", async ({
    market,
    seeded,
  }) => {
    const agent = await freshAgent(market);
    for (let n = 0; n < 50; n += 1) await report(market, seeded, {}, newAddress(), agent);
    const late = newAddress();
    await expect(report(market, seeded, {}, late, agent)).rejects.toMatchObject({ status: 429 });
    const { rows } = await market.context.db.query("select from report_days where subject = $1", [`from:${late}`]);
    expect(rows).toEqual([]);
  });

  test("and deleted 90 days after they were resolved, or a year after they came", async ({ market, seeded }) => {
    const [resolved, old, recent] = [
      await report(market, seeded),
      await report(market, seeded),
      await report(market, seeded),
    ];
    const { db } = market.context;
    await db.query("update reports set resolved_at = now() - interval '91 days' where id = $1", [resolved.id]);
    await db.query("update reports set created_at = now() - interval '13 months' where id = $1", [old.id]);
    await deleteExpiredRows(db);
    const { rows } = await db.query("select id from reports where id = any($1)", [[resolved.id, old.id, recent.id]]);
    expect(rows).toEqual([{ id: recent.id }]);
  });
});

test("an operator who resolves a report that is not there, or asks for too many, is told so", async ({ market }) => {
  await expect(operator(market, "report", "resolve", "--id", "rpt_none")).rejects.toThrow(
    'There is no report "rpt_none".',
  );
  await expect(operator(market, "report", "list", "--limit", "0")).rejects.toThrow(
    "--limit must be between 1 and 1000",
  );
});
