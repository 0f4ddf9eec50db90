import { describe, expect } from "vitest";
import { find } from "../../marketplace/admin/find.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { reportAgent } from "../../marketplace/reports/report-agent.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { balanceOf, call, run, type TestMarketplace } from "../support/marketplace.ts";
import { confirm, newOperator } from "../support/operator.ts";

const test = marketTest().extend("ada", { scope: "file" }, async ({ market }) => {
  const ada = await newOperator(market);
  await confirm(ada);
  return ada;
});

const cli = async (market: TestMarketplace, ...args: string[]) =>
  JSON.parse(await runCommand([...args, "--json"], market.environment));

const lastSubject = async ({ context }: TestMarketplace) =>
  (await context.db.query("select subject from operator_acts order by id desc limit 1")).rows[0].subject;

const paths = ["find?id=ada", "accounts", "agents", "reports", "acts"].map((path) => `/api/operator/${path}`);

describe("who may", () => {
  test("nobody but an operator who showed a code: all others are told that there is nothing", async ({
    market,
    seeded,
  }) => {
    const { browser } = await withAccount(market);
    const stranger = { method: "POST", body: { move: "suspend", reason: "x" } };
    for (const path of paths) {
      expect((await call(market.url, path)).status).toBe(404);
      expect((await browser.get(path)).status).toBe(404);
      expect((await call(market.url, path, { key: seeded.key })).status).toBe(404);
    }
    expect((await call(market.url, `/api/operator/accounts/${seeded.creator.handle}/state`, stranger)).status).toBe(
      404,
    );
    expect((await browser.post("/api/operator/confirm", { code: "123456" })).status).toBe(404);
  });

  test("an operator not before a code, in each session anew, and not for longer than ten minutes", async ({
    market,
  }) => {
    const operator = await newOperator(market);
    expect((await operator.browser.get("/api/operator/acts")).status).toBe(403);
    expect((await confirm(operator)).status).toBe(200);
    expect((await operator.browser.get("/api/operator/acts")).status).toBe(200);
    const { db } = market.context;
    await db.query(
      "update operator_confirmations set until = now() where account_id = (select account_id from handles where handle = $1)",
      [operator.handle],
    );
    expect((await operator.browser.get("/api/operator/acts")).status).toBe(403);
  });

  test("a code is taken once, also by two at once", async ({ market }) => {
    const operator = await newOperator(market);
    const code = operator.code();
    const both = await Promise.all([1, 2].map(() => operator.browser.post("/api/operator/confirm", { code })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 422]);
    const again = await operator.browser.post("/api/operator/confirm", { code });
    expect([again.status, again.body.field]).toEqual([422, "code"]);
  });

  test("a wrong code is refused by name, and after ten in an hour even a right one is", async ({ market }) => {
    const operator = await newOperator(market);
    const tries = await Promise.all(
      Array.from({ length: 10 }, () => operator.browser.post("/api/operator/confirm", { code: operator.code(50) })),
    );
    expect(tries.map(({ status }) => status)).toEqual(Array(10).fill(422));
    const late = await confirm(operator);
    expect([late.status, late.headers.get("retry-after")]).toEqual([429, "3600"]);
  });

  test("nobody whom the command line removed, or whose account is suspended", async ({ market, ada }) => {
    const [removed, suspended] = [await newOperator(market), await newOperator(market)];
    await confirm(removed);
    await confirm(suspended);
    await cli(market, "operator", "remove", "--account", removed.handle);
    await ada.browser.post(`/api/operator/accounts/${suspended.handle}/state`, {
      move: "suspend",
      reason: "lost telephone",
    });
    expect((await removed.browser.get("/api/operator/acts")).status).toBe(404);
    expect((await suspended.browser.get("/api/operator/acts")).status).toBe(404);
    const listed = (await cli(market, "operator", "list")).map(({ operator }: { operator: string }) => operator);
    expect(listed).not.toContain(removed.handle);
  });

  test("no page of another site: a session's cookie alone changes nothing", async ({ seeded, ada }) => {
    const path = `/api/operator/accounts/${seeded.buyer.handle}/grants`;
    const grant = { credits: 1, note: "x", reference: "foreign" };
    expect((await ada.browser.post(path, grant, { origin: "https://evil.example" })).status).toBe(403);
    expect((await ada.browser.post(path, grant, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  test("the secret is kept sealed", async ({ market, ada }) => {
    const { rows } = await market.context.db.query("select totp_secret from operators");
    expect(rows.length).toBeGreaterThan(0);
    for (const { totp_secret } of rows) expect(totp_secret).toMatch(/^[0-9a-f]{8}\.[\w-]{60,}$/);
    expect(ada.code()).toMatch(/^\d{6}$/);
  });
});

describe("credits", () => {
  test("are granted once a reference, with a note that the account does not see", async ({ market, seeded, ada }) => {
    const before = (await balanceOf(market, seeded.key)).credits;
    const path = `/api/operator/accounts/${seeded.buyer.handle}/grants`;
    const grant = { credits: 40, note: "secret ticket 812", reference: "once" };
    const both = await Promise.all([1, 2].map(() => ada.browser.post(path, grant)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await balanceOf(market, seeded.key)).credits).toBe(before + 40);
    const statement = await call(market.url, "/api/v1/ledger", { key: seeded.key });
    expect(statement.text).not.toContain("ticket");
  });

  test("of all operators together stay below the day's cap, however many ask at once", async ({
    market,
    seeded,
    ada,
  }) => {
    const { db } = market.context;
    await db.query("delete from operator_grant_days");
    const path = `/api/operator/accounts/${seeded.buyer.handle}/grants`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => ada.browser.post(path, { credits: 3_000, note: "x", reference: `cap-${n}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    const { rows } = await db.query("select granted from operator_grant_days");
    expect(Number(rows[0].granted)).toBe(9_000);
  });

  test("are refused by the field's name, for unknown accounts, and for the operator's own", async ({ seeded, ada }) => {
    const post = (handle: string, more: object) =>
      ada.browser.post(`/api/operator/accounts/${handle}/grants`, { credits: 1, note: "x", reference: "r", ...more });
    expect((await post(seeded.buyer.handle, { credits: 0 })).body.field).toBe("credits");
    expect((await post(seeded.buyer.handle, { credits: 10_001 })).status).toBe(422);
    expect((await post(seeded.buyer.handle, { note: "  " })).body.field).toBe("note");
    expect((await post("nobody-there", {})).status).toBe(404);
    expect((await post(ada.handle, {})).status).toBe(409);
  });
});

describe("agents and accounts", () => {
  test("an agent is suspended with a reason that its creator sees, and restored", async ({ market, seeded, ada }) => {
    const path = `/api/operator/agents/${seeded.agent.address}/state`;
    const suspended = await ada.browser.post(path, { move: "suspend", reason: "copies a prompt", note: "ticket 7" });
    expect(suspended.body).toEqual({ agent: seeded.agent.address, state: "suspended" });
    expect((await run(market, seeded.key, seeded.agent.address, { text: "a" })).status).toBe(404);
    expect((await ada.browser.post(path, { move: "suspend", reason: "again" })).status).toBe(409);
    expect((await ada.browser.post(path, { move: "restore", reason: "fixed" })).body.state).toBe("live");
    expect((await ada.browser.post(path, { move: "suspend" })).body.field).toBe("reason");
  });

  test("an account is suspended at once", async ({ market, ada }) => {
    const person = await withAccount(market);
    const path = `/api/operator/accounts/${person.handle}/state`;
    expect((await ada.browser.post(path, { move: "suspend", reason: "fraud" })).body.state).toBe("suspended");
    expect((await person.browser.get("/api/account/keys")).status).toBe(403);
    expect((await ada.browser.post(path, { move: "restore", reason: "cleared" })).body.state).toBe("open");
  });

  test("what the command line suspends is in the log and told to whom it concerns as well", async ({ market, ada }) => {
    const person = await withAccount(market);
    await cli(market, "account", "suspend", "--account", person.handle, "--reason", "spam");
    await cli(market, "account", "restore", "--account", person.handle);
    expect((await ada.browser.get("/api/operator/acts?limit=2")).body.acts).toMatchObject([
      { act: "restored_account", subject: person.handle, operator: null, reason: null },
      { act: "suspended_account", subject: person.handle, operator: null, reason: "spam" },
    ]);
    const [, told] = (await person.browser.get("/api/account/operator-acts")).body.acts;
    expect(told).toMatchObject({ act: "suspended_account", subject: person.handle, reason: "spam" });
    const long = ["account", "suspend", "--account", person.handle, "--reason", "x".repeat(2_001)];
    await expect(cli(market, ...long)).rejects.toThrow("--reason must be at most 2000 characters long");
  });

  test("lists are found by how names begin, page by page", async ({ seeded, ada }) => {
    const accounts = (await ada.browser.get(`/api/operator/accounts?q=${seeded.buyer.handle}`)).body.accounts;
    expect(accounts.map(({ handle }: { handle: string }) => handle)).toEqual([seeded.buyer.handle]);
    const agents = (await ada.browser.get(`/api/operator/agents?q=${seeded.creator.handle}/&state=live`)).body.agents;
    expect(agents).toMatchObject([{ agent: seeded.agent.address, state: "live" }]);
    const first = (await ada.browser.get("/api/operator/accounts?limit=1")).body;
    const second = (await ada.browser.get(`/api/operator/accounts?limit=1&cursor=${first.cursor}`)).body;
    expect(second.accounts[0].id).not.toBe(first.accounts[0].id);
  });

  test("a report is read and resolved", async ({ market, seeded, ada }) => {
    const said = { reason: "stolen", text: "It is mine." };
    const { id } = await reportAgent(market.context, seeded.agent.address, { address: "10.9.9.9", said });
    const open = (await ada.browser.get("/api/operator/reports")).body.reports;
    expect(open).toMatchObject([{ id, text: "It is mine.", agent: seeded.agent.address }]);
    expect((await ada.browser.post(`/api/operator/reports/${id}/resolve`, { note: "spoke" })).body).toMatchObject({
      id,
      note: "spoke",
    });
    expect((await ada.browser.get("/api/operator/reports")).body.reports).toEqual([]);
    expect((await ada.browser.post("/api/operator/reports/rpt_none/resolve", {})).status).toBe(404);
  });
});

async function accountsRead(db: Database): Promise<number> {
  await db.query("select pg_stat_force_next_flush()");
  const { rows } = await db.query(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read from pg_stat_user_tables
     where relname in ('accounts', 'sign_in_users', 'balances')`,
  );
  return rows[0].read;
}

test("a NUL in the id of what there is is left out of the log, too", async ({ market, seeded, ada }) => {
  const { id } = await reportAgent(market.context, seeded.agent.address, {
    address: "192.0.2.77",
    said: { reason: "other", text: "Look at it" },
  });
  expect((await ada.browser.post(`/api/operator/reports/${id}%00/resolve`, {})).status).toBe(200);
  expect(await lastSubject(market)).toBe(id);
  const { body } = await run(market, seeded.key, seeded.agent.address, { text: "x" });
  const read = await ada.browser.post(`/api/operator/runs/${body.run_id}%00/input`, { note: "asked to" });
  expect([read.status, read.body.run_id]).toEqual([200, body.run_id]);
});

test("what no name can be is not found, never a 5xx", async ({ ada }) => {
  const posts: ReadonlyArray<[string, object]> = [
    ["accounts/%00/state", { move: "suspend", reason: "x" }],
    ["accounts/%00/grants", { credits: 1, note: "x", reference: "x" }],
    ["agents/%00/%00/state", { move: "suspend", reason: "x" }],
    ["reports/%00/resolve", {}],
    ["runs/%00/input", { note: "x" }],
    ["runs/%00/unshare", { reason: "x" }],
  ];
  for (const [path, body] of posts)
    expect((await ada.browser.post(`/api/operator/${path}`, body)).status, path).toBe(404);
});

describe("what a run was asked", () => {
  test("is read only by an act with a reason, which the buyer sees", async ({ market, seeded, ada }) => {
    const { run_id } = (await run(market, seeded.key, seeded.agent.address, { text: "private words" })).body;
    expect((await ada.browser.get(`/api/operator/find?id=${run_id}`)).text).not.toContain("private words");
    const path = `/api/operator/runs/${run_id}/input`;
    expect((await ada.browser.post(path, { note: " " })).body.field).toBe("note");
    const read = await ada.browser.post(path, { note: "report 3" });
    expect(read.body).toEqual({ run_id, input: { text: "private words" } });
    const { rows } = await market.context.db.query(
      "select act, subject, note, account_id, shown from operator_acts t join operator_act_accounts c on c.act_id = t.id order by t.id desc limit 1",
    );
    expect(rows[0]).toEqual({
      act: "read_input",
      subject: run_id,
      note: "report 3",
      account_id: seeded.buyer.id,
      shown: run_id,
    });
    expect((await ada.browser.post(`/api/operator/runs/run_${"0".repeat(26)}/input`, { note: "x" })).status).toBe(404);
  });
});

describe("a search", () => {
  test("finds a run with its postings, and whose it is", async ({ market, seeded, ada }) => {
    const { run_id } = (await run(market, seeded.key, seeded.agent.address, { text: "find me" })).body;
    const { body } = await ada.browser.get(`/api/operator/find?id=${run_id}`);
    expect(body.runs).toMatchObject([
      { run_id, buyer: seeded.buyer.handle, agent: seeded.agent.address, state: "succeeded" },
    ]);
    expect(body.runs[0].postings.map(({ kind }: { kind: string }) => kind)).toContain("hold");
  });

  test.for<
    [
      string,
      (seeded: { keyId: string; buyer: { id: string; handle: string }; agent: { address: string } }) => string,
      string,
    ]
  >([
    ["a handle", ({ buyer }) => buyer.handle, "accounts"],
    ["an account's id", ({ buyer }) => buyer.id, "accounts"],
    ["a key", ({ keyId }) => keyId, "keys"],
    ["an agent's address", ({ agent }) => agent.address, "agents"],
  ])("finds by %s", async ([_what, idOf, part], { seeded, ada }) => {
    const { body } = await ada.browser.get(`/api/operator/find?id=${encodeURIComponent(idOf(seeded))}`);
    expect(body[part]).toHaveLength(1);
  });

  test.for(["", "run_", "select 1", "0x1 2", "<script>", "a".repeat(201)])(
    "refuses %j by name",
    async (id, { ada }) => {
      const answer = await ada.browser.get(`/api/operator/find?id=${encodeURIComponent(id)}`);
      expect([answer.status, answer.body.field]).toEqual([400, "id"]);
    },
  );

  test("finds a request that failed by the id that its caller was shown, and where it failed", async ({
    market,
    ada,
  }) => {
    const { db } = market.context;
    const id = `shown-${Date.now()}`;
    await db.query("alter table reports rename to reports_away");
    const headers = { "x-request-id": id };
    const failed = await ada.browser
      .get("/api/operator/reports", headers)
      .finally(() => db.query("alter table reports_away rename to reports"));
    expect([failed.status, failed.headers.get("x-request-id")]).toEqual([500, id]);
    await market.context.backgroundWork.idle();
    expect((await ada.browser.get(`/api/operator/find?id=${id}`)).body.failures).toMatchObject([
      { request_id: id, method: "GET", path: "/api/operator/reports", status: 500, kind: "error 42P01" },
    ]);
    expect(await lastSubject(market)).toBe(id);
    expect((await ada.browser.get("/api/operator/find?id=no-such-request")).body.failures).toEqual([]);
  });

  test("finds a whole key by its beginning, and the rest of it is in no log", async ({ market, seeded, ada }) => {
    for (const pasted of [seeded.key, `${seeded.key}.`]) {
      const { body } = await ada.browser.get(`/api/operator/find?id=${pasted}`);
      expect(body.keys).toMatchObject([{ id: seeded.keyId, start: seeded.key.slice(0, 8) }]);
      expect(await lastSubject(market)).toBe(seeded.key.slice(0, 8));
    }
    expect(market.lines.filter((line) => line.includes(seeded.key))).toEqual([]);
  });

  test("finds an account by an e-mail address or a handle without reading the others", async ({ market, ada }) => {
    await market.context.db.query(`
      with opened as (
        insert into accounts (id, handle) select 'acc_many' || n, 'many-' || n from generate_series(1, 5000) n returning id
      ), balance as (insert into balances (account_id) select id from opened)
      insert into sign_in_users (id, name, email, email_verified, account_id)
      select 'usr_' || id, '', id || '@example.com', true, id from opened`);
    // One connection, which tells what it read.
    const db = connect(market.databaseUrl, { poolMax: 1, applicationName: "find an account" });
    try {
      await db.query("analyze accounts, balances, handles, sign_in_users");
      const { facilitator, config } = market.context;
      const { rows } = await db.query("select account_id as id from handles where handle = $1", [ada.handle]);
      const operator = { id: rows[0].id, handle: ada.handle, confirmedUntil: new Date() };
      for (const text of ["acc_many77@example.com", "many-77"]) {
        const before = await accountsRead(db);
        const { accounts } = await find({ db, facilitator, config }, operator, text);
        expect(accounts).toMatchObject([{ handle: "many-77", email: "acc_many77@example.com" }]);
        expect((await accountsRead(db)) - before).toBeLessThan(100);
      }
    } finally {
      await db.end();
      await market.context.db.query("delete from sign_in_users where id like 'usr_acc_many%'");
    }
  });

  test("that found no request is logged without its text, which can be a secret", async ({ market, ada }) => {
    const { body } = await ada.browser.get("/api/operator/find?id=Some_Secret.Of-Another-Service");
    expect(body.failures).toEqual([]);
    expect(await lastSubject(market)).toBe("a request");
  });

  test.for([
    ["settled", "/api/agent/ada/echo", "differ"],
    ["settled", "", "differ"],
    ["broadcast", "/api/agent/ada/echo", "open"],
    ["failed", "/api/agent/ada/echo", "agree"],
    ["settled", "mcp://tool/ada_echo", "differ"],
    ["settled", "mcp://tool/svg_generate_hd", "differ"],
    ["failed", "mcp://tool/ada_echo", "agree"],
    ["settled", ".example.com/api/agent/ada/echo", "not_ours"],
    ["settled", "mcp://tool/ada_echo_of_another_service", "not_ours"],
    ["settled", null, "not_ours"],
  ] as const)(
    "of a %s payment for our %s that is not here finds that they %s",
    async ([state, path, agreement], { market, ada }) => {
      const { db, config } = market.context;
      const at = new Date().toISOString();
      const parties = { payer: `0x${"1".repeat(40)}`, pay_to: `0x${"2".repeat(40)}`, asset: `0x${"3".repeat(40)}` };
      const record = {
        ...{ ...parties, state, network: "eip155:84532", transaction: `0x${"cd".repeat(32)}`, amount_atomic: "5000" },
        ...{ created_at: at, expires_at: at, finished_at: at, error_reason: null, explorer: null },
        resource_url: path === null || path.startsWith("mcp:") ? path : `${config.publicUrl}${path}`,
      };
      const facilitator = { paymentOf: async () => record, paymentState: async () => undefined };
      const { rows } = await db.query("select account_id as id from handles where handle = $1", [ada.handle]);
      const operator = { id: rows[0].id, handle: ada.handle, confirmedUntil: new Date() };
      await db.query(
        `insert into agents (id, account_id, handle, slug, tool_name) values ('agt_of_tool', $1, $2, 'tool', 'ada_echo')
         on conflict do nothing`,
        [operator.id, operator.handle],
      );
      const { payments } = await find({ db, facilitator, config }, operator, record.transaction);
      expect(payments).toEqual([{ marketplace: null, facilitator: record, agreement }]);
    },
  );

  test("does not take a facilitator that does not answer for one that knows nothing", async ({ ada }) => {
    const { body } = await ada.browser.get(`/api/operator/find?id=0x${"ab".repeat(32)}`);
    expect(body.payments).toEqual([{ marketplace: null, facilitator: "unheard", agreement: "unheard" }]);
  });
});

describe("the audit log", () => {
  test("has every act with its note; the account concerned sees its acts without", async ({ market, ada }) => {
    const person = await withAccount(market);
    const grant = { credits: 5, note: "hidden-note", reference: "log" };
    await market.context.db.query("delete from operator_grant_days");
    await ada.browser.post(`/api/operator/accounts/${person.handle}/grants`, grant);
    await ada.browser.get(`/api/operator/find?id=${person.handle}`);
    const acts = (await ada.browser.get(`/api/operator/acts?operator=${ada.handle}&limit=2`)).body.acts;
    expect(acts).toMatchObject([
      { act: "found", subject: person.handle, operator: ada.handle },
      { act: "granted", subject: person.handle, credits: 5, note: "hidden-note" },
    ]);
    const own = await person.browser.get("/api/account/operator-acts");
    expect(own.body.acts).toMatchObject([
      { act: "found", subject: person.handle },
      { act: "granted", credits: 5 },
    ]);
    expect(own.text).not.toContain("hidden-note");
    expect(own.text).not.toContain(ada.handle);
    const other = await withAccount(market);
    expect((await other.browser.get("/api/account/operator-acts")).body.acts).toEqual([]);
  });

  test("a creator learns that an agent was concerned, and not of whose run", async ({ market, seeded, ada }) => {
    const { run_id } = (await run(market, seeded.key, seeded.agent.address, { text: "mine" })).body;
    await ada.browser.get(`/api/operator/find?id=${run_id}`);
    const { rows } = await market.context.db.query(
      "select account_id, shown from operator_act_accounts where act_id = (select max(id) from operator_acts)",
    );
    const shown = Object.fromEntries(rows.map(({ account_id, shown }) => [account_id, shown]));
    expect(shown).toEqual({ [seeded.buyer.id]: run_id, [seeded.creator.id]: seeded.agent.address });
  });

  test.for([
    "update operator_acts set note = null",
    "delete from operator_acts",
    "truncate operator_acts cascade",
    "update operator_act_accounts set shown = null",
    "delete from operator_act_accounts",
  ])("the database refuses %s", async (statement, { market }) => {
    await expect(market.context.db.query(statement)).rejects.toThrow("append-only");
  });

  test("pages through all of it, each act once", async ({ ada }) => {
    const seen: string[] = [];
    for (let cursor = "", pages = 0; pages < 50; pages += 1) {
      const { body } = await ada.browser.get(`/api/operator/acts?limit=7&cursor=${cursor}`);
      seen.push(...body.acts.map(({ id }: { id: string }) => id));
      if (body.cursor === null) break;
      cursor = body.cursor;
    }
    expect(seen.length).toBeGreaterThan(7);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("takes notes", async ({ ada }) => {
    expect((await ada.browser.post("/api/operator/notes", { on: "61 payments", note: "Base slow" })).body).toEqual({
      noted: true,
    });
    expect((await ada.browser.post("/api/operator/notes", { on: "", note: "x" })).body.field).toBe("on");
  });
});
