import { describe, expect } from "vitest";
import { accountByHandle, createAccount } from "../../marketplace/accounts/create.ts";
import { renameAccount } from "../../marketplace/accounts/rename.ts";
import { nameOperator } from "../../marketplace/admin/operators.ts";
import { codeAt, stepAt } from "../../marketplace/admin/totp.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { reportAgent, reportSharedRun } from "../../marketplace/reports/report-agent.ts";
import { revokeShare, shareRun } from "../../marketplace/runs/share-run.ts";
import { withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { echoAgent, run, seedMarket, type TestMarketplace } from "../support/marketplace.ts";
import { allFormsIn } from "./console/posted-form.ts";

/** A person whose browser runs no scripts. */
interface Person {
  readonly handle: string;
  readonly get: (path: string) => Promise<Page>;
  readonly post: (path: string, fields: Record<string, string>, headers?: Record<string, string>) => Promise<Page>;
}

interface Page {
  readonly status: number;
  readonly to: string | null;
  readonly html: string;
}

async function person(market: TestMarketplace): Promise<Person> {
  const { browser, handle } = await withAccount(market);
  const ask = async (path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Page> => {
    const headers = { accept: "text/html", cookie: browser.cookie, ...init.headers };
    const answer = await fetch(market.url + path, { redirect: "manual", ...init, headers });
    return { status: answer.status, to: answer.headers.get("location"), html: await answer.text() };
  };
  return {
    handle,
    get: (path) => ask(path),
    post: (path, fields, headers = {}) => ask(path, { method: "POST", body: new URLSearchParams(fields), headers }),
  };
}

const test = marketTest().extend("ada", { scope: "file" }, async ({ market }) => {
  const ada = await person(market);
  const { db, sealer } = market.context;
  const { uri } = await nameOperator({ db, sealer }, await accountByHandle(db, ada.handle));
  const secret = new URL(uri).searchParams.get("secret") as string;
  const bits = [...secret].map((letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  );
  const bytes = Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  expect((await ada.get("/admin/agents?q=a")).to).toBe(
    `/admin/confirm?next=${encodeURIComponent("/admin/agents?q=a")}`,
  );
  const wrong = await ada.post("/admin/confirm", { code: codeAt(bytes, 5), next: "/admin/log" });
  expect([wrong.status, wrong.html.includes("Is not what your authenticator shows now.")]).toEqual([422, true]);
  const right = await ada.post("/admin/confirm", {
    code: codeAt(bytes, stepAt(Date.now())),
    next: "https://evil.example",
  });
  expect(right.to).toBe("/admin");
  return ada;
});

const paths = [
  "/admin",
  "/admin/reports",
  "/admin/agents",
  "/admin/accounts",
  "/admin/log",
  "/admin/confirm",
  "/admin/accounts/ada",
];

describe("the operators' pages", () => {
  test.for(paths)("%s is not there for anybody else, signed in or not", async (path, { market }) => {
    const stranger = await person(market);
    const pages = [await stranger.get(path), await fetch(market.url + path, { headers: { accept: "text/html" } })];
    expect(pages.map(({ status }) => status)).toEqual([404, 404]);
    expect((await stranger.post("/admin/log", { act: "note", on: "x", note: "y" })).status).toBe(404);
  });

  test("take no form from a page of another site", async ({ ada }) => {
    const headers = { origin: "https://evil.example" };
    expect((await ada.post("/admin/log", { act: "note", on: "x", note: "y" }, headers)).status).toBe(403);
    expect((await ada.post("/admin/log", { act: "toString" })).status).toBe(400);
  });

  test("keep a form that came after the ten minutes, to be sent again", async ({ market, ada }) => {
    const confirmedUntil = (until: string) =>
      market.context.db.query(
        `update operator_confirmations set until = ${until} where account_id = (select account_id from handles where handle = $1)`,
        [ada.handle],
      );
    const note = { act: "note", on: "pay_1", note: 'a "long" text' };
    await confirmedUntil("now()");
    const late = await ada.post("/admin/log", note);
    expect([late.status, late.html.includes("/admin/confirm?next=%2Fadmin%2Flog")]).toEqual([401, true]);
    await confirmedUntil("now() + interval '10 minutes'");
    const [again] = allFormsIn(late.html).filter(({ action }) => action === "/admin/log");
    expect(again?.fields).toEqual(note);
    expect((await ada.post("/admin/log", again!.fields)).status).toBe(303);
  });

  test("suspend an agent with a reason and restore it, without JavaScript", async ({ market, seeded, ada }) => {
    const path = `/admin/agents/${seeded.agent.address}`;
    const unsaid = await ada.post(path, { act: "move", move: "suspend", reason: " ", note: "kept <b>" });
    expect([unsaid.status, unsaid.html.includes("Must say why."), unsaid.html.includes("kept &lt;b>")]).toEqual([
      422,
      true,
      true,
    ]);
    expect((await ada.post(path, { act: "move", move: "suspend", reason: "copies" })).to).toBe(
      `${path}?done=suspended`,
    );
    expect((await run(market, seeded.key, seeded.agent.address, { text: "a" })).status).toBe(404);
    expect((await ada.get(path)).html).toContain("Restore agent");
    expect((await ada.post(path, { act: "move", move: "restore", reason: "fixed" })).to).toBe(`${path}?done=live`);
    expect((await ada.get("/admin/agents/nobody/nothing")).status).toBe(404);
  });

  test("a creator reads why an agent was suspended where the agent stands, until it is restored", async ({
    market,
    ada,
  }) => {
    const creator = await person(market);
    await publishAgent(market.context, await accountByHandle(market.context.db, creator.handle), "copied", echoAgent);
    const move = (move: string, reason: string) =>
      ada.post(`/admin/agents/${creator.handle}/copied`, { act: "move", move, reason });
    const seen = async () => (await Promise.all(["/build", "/build/copied"].map(creator.get))).map(({ html }) => html);
    await move("suspend", "copies <b>a prompt</b>");
    for (const html of await seen()) expect(html).toContain("copies &lt;b>a prompt&lt;/b>");
    await move("restore", "it was theirs");
    for (const html of await seen()) expect(html).not.toContain("copies");
  });

  test("what was done to an account, its holder reads on a page, without notes", async ({ market, ada }) => {
    const [concerned, other] = [await person(market), await person(market)];
    const path = `/admin/accounts/${concerned.handle}`;
    await ada.post(path, { act: "move", move: "suspend", reason: "looked <i>odd</i>", note: "hidden-note" });
    await ada.post(path, { act: "move", move: "restore", reason: "cleared" });
    const { html } = await concerned.get("/settings/operator-acts");
    expect(html).toContain("account suspended");
    expect(html).toContain("looked &lt;i>odd&lt;/i>");
    for (const secret of ["hidden-note", ada.handle]) expect(html).not.toContain(secret);
    expect((await other.get("/settings/operator-acts")).html).toContain("No operator did anything here");
  });

  test("grant credits once, however often a form is sent", async ({ seeded, ada }) => {
    const path = `/admin/accounts/${seeded.buyer.handle}`;
    const form = (await ada.get(path)).html;
    const reference = /name="reference" value="([^"]+)"/.exec(form)?.[1] ?? "";
    const fields = { act: "grant", credits: "1,000", note: "outage", reference };
    expect((await ada.post(path, fields)).to).toBe(`${path}?done=granted`);
    expect((await ada.post(path, fields)).status).toBe(409);
    expect((await ada.get(path)).html).toContain("1,000 of 10,000 granted today");
    const many = await ada.post(path, { ...fields, credits: "many" });
    expect([many.status, many.html.includes("Must be a whole number.")]).toEqual([422, true]);
  });

  test("a grant form that was sent before can be sent once more, told so", async ({ seeded, ada }) => {
    const path = `/admin/accounts/${seeded.buyer.handle}`;
    const form = { act: "grant", credits: "2", note: "a gift", reference: `again-${Date.now()}` };
    expect((await ada.post(path, form)).to).toBe(`${path}?done=granted`);
    const again = await ada.post(path, { ...form, credits: "3" });
    expect([again.status, again.html.includes("granted before; nothing was granted now")]).toEqual([409, true]);
    const shown = allFormsIn(again.html).find(({ fields }) => fields.act === "grant");
    expect(shown?.fields).toMatchObject({ credits: "3", note: "a gift" });
    expect((await ada.post(path, shown!.fields)).to).toBe(`${path}?done=granted`);
  });

  test("find and suspend an agent by an address from before its creator's handle changed", async ({ market, ada }) => {
    const creator = await person(market);
    const { db } = market.context;
    const account = await accountByHandle(db, creator.handle);
    await publishAgent(market.context, account, "moved", echoAgent);
    const now = (await renameAccount(db, account, `${creator.handle}-now`)).handle;
    const before = `${creator.handle}/moved`;
    const found = await ada.get(`/admin?${new URLSearchParams({ id: before })}`);
    expect(found.html).toContain(`/admin/agents/${now}/moved`);
    expect((await ada.get(`/admin/agents/${before}`)).html).toContain(`${now}/moved`);
    const moved = await ada.post(`/admin/agents/${before}`, { act: "move", move: "suspend", reason: "copies" });
    expect(moved.to).toBe(`/admin/agents/${now}/moved?done=suspended`);
  });

  test("keep what a list is narrowed to on its first page, too", async ({ market, ada }) => {
    const { db } = market.context;
    for (let n = 0; n < 101; n += 1) await createAccount(db, { handle: `page-of-${n}` });
    const first = await ada.get("/admin/accounts?q=page-of&state=open");
    const [next] = /\/admin\/accounts\?[^"]*cursor=[^"&]+/.exec(first.html) ?? [];
    const second = await ada.get((next ?? "").replaceAll("&amp;", "&"));
    expect(second.html.replaceAll("&amp;", "&")).toContain('"/admin/accounts?q=page-of&state=open&cursor="');
  });

  test("find a run, and show its input only for a reason", async ({ market, seeded, ada }) => {
    const { run_id } = (await run(market, seeded.key, seeded.agent.address, { text: "<i>private</i>" })).body;
    const found = await ada.get(`/admin?id=${run_id}`);
    expect(found.html).toContain(seeded.buyer.handle);
    expect(found.html).not.toContain("private&lt;");
    const path = `/admin?id=${run_id}`;
    expect((await ada.post(path, { act: "read_input", run: run_id, note: "" })).html).toContain("Must say why.");
    expect((await ada.post(path, { act: "read_input", run: run_id, note: "report" })).html).toContain(
      "&lt;i>private&lt;/i>",
    );
    expect((await ada.get("/admin/log")).html).toContain("read input");
    expect((await ada.get("/admin?id=no+id+at+all")).status).toBe(400);
  });

  test("show a visitor's report as text, count it until it is resolved, and resolve it", async ({
    market,
    seeded,
    ada,
  }) => {
    const said = { reason: "other", text: "<script>alert(1)</script>" };
    const { id } = await reportAgent(market.context, seeded.agent.address, { address: "10.8.8.8", said });
    for (const path of ["/admin", "/admin/reports"]) {
      const { html } = await ada.get(path);
      expect(html).toContain("&lt;script>alert(1)");
      expect(html).not.toContain("<script>alert");
      expect(html).toContain('1<span class="vh"> open</span>');
    }
    expect((await ada.post("/admin/reports", { act: "resolve", id, note: "done" })).to).toBe(
      "/admin/reports?done=resolved",
    );
    const again = await ada.post("/admin/reports", { act: "resolve", id, note: "another’s" });
    expect(again.html).toContain("was resolved meanwhile, with the note “done”");
    expect(again.html).toContain("Your note, which is not kept: another’s");
    const { html } = await ada.get("/admin/reports");
    expect(html).toContain("No open reports");
    expect(html).not.toContain('<span class="vh"> open</span>');
  });

  test("show every report, page by page, and lead back to the page where one was resolved", async ({ market, ada }) => {
    const { db } = market.context;
    const { agent } = await seedMarket(market.context);
    const { id: newest } = await reportAgent(market.context, agent.address, {
      address: "10.8.8.7",
      said: { reason: "other", text: "report-0-" },
    });
    await db.query(
      `insert into reports (id, agent_id, version, reason, text, created_at)
       select 'rpt_paged' || n, agent_id, version, reason, 'report-' || n || '-', created_at - n * interval '1 minute'
       from reports, generate_series(1, 101) n where id = $1`,
      [newest],
    );
    const seen = (html: string) => [...html.matchAll(/report-(\d+)-/g)].map(([, n]) => Number(n));
    const next = ({ html }: Page) => {
      const [, href] = /href="([^"]*cursor=[^"]*)"[^>]*>Next/.exec(html) ?? [];
      return href?.replaceAll("&amp;", "&");
    };
    const first = await ada.get("/admin/reports");
    const second = await ada.get(next(first)!);
    const third = await ada.get(next(second)!);
    expect([first, second, third].flatMap(({ html }) => seen(html))).toEqual(Array.from({ length: 102 }, (_, n) => n));
    expect(next(third)).toBeUndefined();
    const form = allFormsIn(second.html).find(({ fields }) => fields.id === "rpt_paged60")!;
    const resolved = await ada.post("/admin/reports", form.fields);
    expect(resolved.to).toBe(`${next(first)}&done=resolved`);
    const after = await ada.get(resolved.to!);
    expect([after.html.includes("The report is resolved."), seen(after.html).slice(0, 11)]).toEqual([
      true,
      [50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61],
    ]);
    const again = await ada.post("/admin/reports", form.fields);
    expect([again.status, seen(again.html)[0]]).toEqual([409, 50]);
    const all = await ada.get("/admin/reports?all=true");
    const [ofAll] = allFormsIn(all.html).filter(({ fields }) => fields.id === newest);
    expect((await ada.post("/admin/reports", ofAll!.fields)).to).toBe("/admin/reports?all=true&done=resolved");
    expect((await ada.get("/admin/reports?cursor=none")).status).toBe(400);
    await db.query(
      "update reports set resolved_at = now() where agent_id = (select agent_id from reports where id = $1)",
      [newest],
    );
  });

  test("show what a report on a shared run is about, and end its link; who shared it is told why", async ({
    market,
    ada,
  }) => {
    const { browser, run_id, token, id } = await reportedRun(market);
    expect((await ada.get("/admin/reports")).html).toContain(`/runs/shared/${token}`);
    const end = (reason: string) => ada.post("/admin/reports", { act: "unshare", id, run: run_id, reason });
    const refused = await end(" ");
    expect([refused.status, refused.html.includes("Must say why.")]).toEqual([422, true]);
    expect((await end("It names a person.")).to).toBe("/admin/reports?done=unshared");
    expect((await fetch(`${market.url}/runs/shared/${token}`)).status).toBe(404);
    expect((await ada.get("/admin/reports")).html).toContain("It is shared no more.");
    expect((await browser.get("/api/account/operator-acts")).body.acts).toMatchObject([
      { act: "ended_share", subject: run_id, reason: "It names a person." },
    ]);
  });

  test("give back the reason typed for ending a link that its owner has ended meanwhile", async ({ market, ada }) => {
    const { buyer, run_id, id } = await reportedRun(market);
    await revokeShare(market.context.db, buyer, run_id);
    const late = await ada.post("/admin/reports", { act: "unshare", id, run: run_id, reason: "It names a person." });
    expect(late.status).toBe(409);
    for (const said of ["it is not shared any more", "It is shared no more.", "It names a person."]) {
      expect(late.html).toContain(said);
    }
  });

  test("answer what PostgreSQL cannot keep with a refusal, never a 5xx", async ({ seeded, ada }) => {
    const path = `/admin/accounts/${seeded.buyer.handle}`;
    const answers = [
      await ada.get("/admin/accounts/%00"),
      await ada.get("/admin/agents/%00/x"),
      await ada.get("/admin?id=%00"),
      await ada.get("/admin/agents?q=%00&state=%00"),
      await ada.get("/admin/log?operator=%00&cursor=%00"),
      await ada.get("/proof/%00"),
      await ada.post(path, { act: "move", move: "suspend", reason: "a\0b" }),
      await ada.post(path, { act: "grant", credits: "1", note: "a\0b", reference: "nul" }),
      await ada.post("/admin/log", { act: "note", on: "a\0b", note: "a\0b" }),
      await ada.post("/admin", { act: "read_input", run: "\0", note: "a" }),
      await ada.post("/admin/reports", { act: "resolve", id: "\0", note: "a" }),
      await ada.post("/admin/reports", { act: "unshare", run: "\0", reason: "a" }),
    ];
    expect(answers.map(({ status }) => Math.floor(status / 100))).not.toContain(5);
  });
});

/** A run that its buyer shares, and that a visitor reported. */
async function reportedRun(market: TestMarketplace) {
  const { db } = market.context;
  const { browser, handle } = await withAccount(market);
  const { id: buyer } = await accountByHandle(db, handle);
  const { creator } = await seedMarket(market.context);
  await publishAgent(market.context, creator, "free", { ...echoAgent, price_credits: 0 });
  const asked = { agent: `${creator.handle}/free`, input: { text: "hello" } };
  const { run_id } = (await browser.post("/api/account/run", asked)).body;
  const { token } = await shareRun(db, buyer, run_id, { withInput: false });
  const said = { reason: "private", text: "My address is in it." };
  const { id } = await reportSharedRun(db, token, { address: "10.8.8.9", said });
  return { browser, buyer, run_id, token, id };
}
