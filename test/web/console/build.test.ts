import { test as base, describe, expect } from "vitest";
import { connectorIds } from "../../../marketplace/connectors/connector.ts";
import { startMarketplace, type TestMarketplace } from "../../support/marketplace.ts";
import { newPerson, type Person } from "./person.ts";
import { allFormsIn, formIn } from "./posted-form.ts";

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
const test = base.extend("market", { scope: "file" }, async ({}, { onCleanup }): Promise<TestMarketplace> => {
  const market = await startMarketplace();
  onCleanup(() => market.stop());
  return market;
});

/** A person who began an agent, and the editor's address. */
async function begun(market: TestMarketplace, connector = "llm") {
  const person = await newPerson(market);
  const { status, location } = await person.post("/build", { act: "start", connector });
  expect(status).toBe(303);
  return { person, path: location as string };
}

type Form = Record<string, string>;
const wordsOf = (text: string) => text.split(" ");
const formAt = async (person: Person, path: string) => formIn((await person.get(path)).html, "build");

describe("the gallery", () => {
  test("begins with the templates for who has no agent, and says what each of one's agents brought", async ({
    market,
  }) => {
    const person = await newPerson(market);
    const empty = (await person.get("/build")).html;
    expect([empty.includes('id="own-title"'), empty.includes("Start from Language model")]).toEqual([false, true]);
    const { location } = await person.post("/build", { act: "start", connector: "llm" });
    await person.post(location as string, { ...(await formAt(person, location as string)), do: "publish" });
    await market.context.db.query(
      `insert into agent_days (agent_id, day, payer, runs, failed, credits, units)
       select id, (now() at time zone 'utc')::date - ago, payer, 1, 0, credits, units from agents,
         (values (0, 'key', 1203, 0), (1, 'eip155:84532', 0, 310000), (40, 'key', 5000, 0)) days (ago, payer, credits, units)
       where handle = $1`,
      [person.handle],
    );
    expect((await person.get("/build")).html).toMatch(/USD, 30 d.*>12\.34</s);
  });
});

describe("the editor, without JavaScript", () => {
  test("takes what every connector's template fills it in with, and a form posted again changes nothing", async ({
    market,
  }) => {
    const person = await newPerson(market);
    for (const connector of connectorIds) {
      const { location } = await person.post("/build", { act: "start", connector });
      const first = await person.post(location as string, {
        ...(await formAt(person, location as string)),
        do: "save",
      });
      expect([connector, first.status]).toEqual([connector, 200]);
      const saved = formIn(first.html, "build");
      const again = formIn((await person.post(location as string, { ...saved, do: "save" })).html, "build");
      expect([connector, again]).toEqual([connector, saved]);
    }
  });

  test("tries, publishes, compares, goes back and unpublishes", async ({ market }) => {
    const { person, path } = await begun(market);
    const tried = await person.post(path, { ...(await formAt(person, path)), do: "try" });
    expect(tried.html).toContain("This answer was made without a model");
    expect(tried.html).toContain("Tried since the last change, and it worked");
    const one = await person.post(path, { ...formIn(tried.html, "build"), do: "publish" });
    expect([one.status, one.location]).toEqual([303, `${path}?done=published`]);
    const two = { ...(await formAt(person, path)), name: "Renamed", do: "publish" };
    expect((await person.post(path, two)).location).toBe(`${path}?done=published`);
    // The card of what has been published says nothing of runs that it does not know of.
    expect((await person.get(path)).html).not.toContain("no runs in 30 days");
    const compared = await person.get(`${path}?against=1`);
    expect(compared.html).toMatch(/class="del">- name: Summarise a text<.*class="add">\+ name: Renamed</s);
    expect((await person.get(`${path}?against=9`)).status).toBe(404);
    const { revision = "" } = await formAt(person, path);
    await person.post(path, { act: "restore", revision, version: "1" });
    expect(await formAt(person, path)).toMatchObject({ name: "Summarise a text" });
    expect((await person.post(path, { act: "unpublish" })).location).toBe(`${path}?done=unpublished`);
    expect((await fetch(`${market.url}/${person.handle}${path.replace("/build", "")}`)).status).toBe(404);
  });

  test("saves as one types beside the limit of changes, which it leaves alone, within a limit of its own", async ({
    market,
  }) => {
    const { person, path } = await begun(market);
    const { db } = market.context;
    const { account } = (await person.browser.get("/api/account")).body;
    const countOf = async (kind: string) =>
      (await db.query("select used from count_calls($1, 0, 1000)", [`${kind}:${account.id}`])).rows[0].used;
    const changes = await countOf("changes");
    const saved = await person.post(path, { ...(await formAt(person, path)), name: "One", do: "save" });
    expect([saved.status, await countOf("changes"), await countOf("draft-saves")]).toEqual([200, changes, 1]);
    expect(saved.html).toContain("they are not paid out");
    await db.query("select count_calls($1, 60, 60)", [`changes:${account.id}`]);
    const typed = await person.post(path, { ...formIn(saved.html, "build"), name: "Two", do: "save" });
    expect([typed.status, formIn(typed.html, "build").name]).toEqual([200, "Two"]);
    expect((await person.post(path, { ...formIn(typed.html, "build"), do: "publish" })).status).toBe(429);
    await db.query("select count_calls($1, 120, 120)", [`draft-saves:${account.id}`]);
    const refused = await person.post(path, { ...formIn(typed.html, "build"), name: "Three", do: "save" });
    expect([refused.status, formIn(refused.html, "build").name]).toEqual([429, "Three"]);
  });

  test("shows a picture that was tried as buyers see it", async ({ market }) => {
    const { person, path } = await begun(market, "image-generator");
    const form = { ...(await formAt(person, path)), price_credits: "0", "s.size": "256x256", do: "try" };
    const { html } = await person.post(path, form);
    const [, picture = ""] = /<img src="([^"]+)" alt="Result 1"/.exec(html) ?? [];
    expect((await fetch(market.url + new URL(picture).pathname)).headers.get("content-type")).toMatch(/^image\//);
  });

  test("adds, moves and removes fields by their buttons", async ({ market }) => {
    const { person, path } = await begun(market);
    const names = (form: Record<string, string>) =>
      Array.from({ length: Number(form["f.count"]) }, (_, at) => form[`f.${at}.name`]);
    let form = await formAt(person, path);
    for (const [pressed, left] of [
      ["down.0", ["tone", "text", "max_words"]],
      ["up.2", ["tone", "max_words", "text"]],
      ["remove.1", ["tone", "text"]],
      ["add.0", ["tone", "text", "field_3"]],
      ["up.0", ["tone", "text", "field_3"]],
      ["remove.77", ["tone", "text", "field_3"]],
    ] as const) {
      form = formIn((await person.post(path, { ...form, do: pressed })).html, "build");
      expect(names(form)).toEqual(left);
    }
    // Its rules went with it, and all of it is kept.
    expect(form["f.0.choices"]).toBe("neutral\nfriendly\nblunt");
    expect(await formAt(person, path)).toEqual(form);
  });

  test("a field's type that is changed and changed back has the rules, default and example that it had", async ({
    market,
  }) => {
    const { person, path } = await begun(market);
    const first = await formAt(person, path);
    const had = { "f.1.example": "friendly", "f.0.example": "Two\nlines.", "f.0.type": "text" };
    const rules = (form: Record<string, string>) =>
      Object.fromEntries(Object.entries(form).filter(([name]) => /^f\.\d\./.test(name) && !name.endsWith(".type")));
    let form = formIn((await person.post(path, { ...first, ...had, do: "save" })).html, "build");
    const before = rules(form);
    expect(before).toMatchObject({ "f.1.choices": "neutral\nfriendly\nblunt", "f.0.example": "Two\nlines." });
    for (const [text, tone] of ["string integer", "boolean boolean", "url string", "text choice"].map(wordsOf)) {
      const changed = { ...form, "f.0.type": text as string, "f.1.type": tone as string };
      form = formIn((await person.post(path, { ...changed, do: "save" })).html, "build");
    }
    expect(rules(form)).toEqual(before);
    // They go with their field, and no draft holds them.
    const moved = await person.post(path, { ...form, "f.1.type": "string", do: "up.1" });
    expect(formIn(moved.html, "build")).toMatchObject({ "f.0.type": "string", "f.0.choices": before["f.1.choices"] });
    expect(await formAt(person, path)).not.toHaveProperty(["f.0.choices"]);
  });

  test("a setting that may be any JSON is the same after another part was edited", async ({ market }) => {
    const { person, path } = await begun(market, "http-api");
    const draftAt = async () =>
      (await person.browser.get(`/api/account/agent-drafts${path.replace("/build", "")}`)).body;
    for (const body of ["42", 42, "true", null, '"{{text}}"', '{"a":"{{text}}"}', { a: "{{text}}" }, ["{{text}}"]]) {
      const { revision, definition } = await draftAt();
      const kept = { revision, definition: { ...definition, settings: { ...definition.settings, body } } };
      expect((await person.browser.put(`/api/account/agent-drafts${path.replace("/build", "")}`, kept)).status).toBe(
        200,
      );
      await person.post(path, { ...(await formAt(person, path)), name: `With ${JSON.stringify(body)}`, do: "save" });
      expect((await draftAt()).definition).toMatchObject({ name: `With ${JSON.stringify(body)}`, settings: { body } });
    }
    const typed = { "s.body": '{"id": 12345678901234567890}' };
    await person.post(path, { ...(await formAt(person, path)), ...typed, do: "save" });
    expect(await formAt(person, path)).toMatchObject(typed);
  });

  test("keeps what is no number yet as it was typed, and each check leads to its control", async ({ market }) => {
    const { person, path } = await begun(market);
    const typed = { price_credits: "five", "f.2.min": "low", "s.temperature": "warm", "s.prompt": "{{nobody}}" };
    const { html } = await person.post(path, { ...(await formAt(person, path)), ...typed, do: "save" });
    expect(await formAt(person, path)).toMatchObject(typed);
    const targets = [...html.matchAll(/href="#(at-[\w-]+)"/g)].map(([, id]) => id);
    expect(targets).toEqual(["at-price_credits", "at-fields-2-min", "at-settings-temperature"]);
    for (const id of targets) expect(html).toContain(`id="${id}"`);
    const refused = await person.post(path, { ...formIn(html, "build"), do: "publish" });
    expect(refused.html).toContain("Not published:");
  });

  test("keeps what two tabs typed: the later is told, and decides", async ({ market }) => {
    const { person, path } = await begun(market);
    const form = await formAt(person, path);
    await person.post(path, { ...form, name: "First tab", do: "save" });
    const late = await person.post(path, { ...form, name: "Second tab", do: "save" });
    expect(late.status).toBe(409);
    expect(formIn(late.html, "build")).toMatchObject({ name: "Second tab", revision: form.revision });
    expect(await formAt(person, path)).toMatchObject({ name: "First tab" });
    const copy = await person.post(path, { ...formIn(late.html, "build"), do: "copy" });
    expect(await formAt(person, String(copy.location).split("?")[0] as string)).toMatchObject({ name: "Second tab" });
    const over = await person.post(path, { ...formIn(late.html, "build"), do: "over" });
    expect(over.status).toBe(200);
    expect(await formAt(person, path)).toMatchObject({ name: "Second tab" });
  });

  test.for(["moved", "discarded"])(
    "gives back what was written for a draft that was %s in another tab, and keeps it as a draft of its own",
    async (how, { market }) => {
      const { person, path } = await begun(market);
      const open = await formAt(person, path);
      const { revision = "" } = open;
      await person.post(
        path,
        how === "moved" ? { act: "move", revision, slug: "elsewhere" } : { act: "discard", revision },
      );
      const typed: Form = { ...open, name: "Hours of work", "s.prompt": "Hours {{text}}", "f.0.label": "Typed" };
      for (const pressed of ["save", "publish", "try", "add.0"]) {
        const late = await person.post(path, { ...typed, do: pressed });
        expect([pressed, late.status]).toEqual([pressed, 404]);
        expect(late.html).toContain('<div id="build-gone"><');
        const { "f.count": _, ...kept } = typed;
        expect(formIn(late.html, "build")).toMatchObject(kept);
        const copy = await person.post(path, { ...formIn(late.html, "build"), do: "copy" });
        const { account, act, revision: __, ...said } = kept;
        expect(await formAt(person, String(copy.location).split("?")[0] as string)).toMatchObject(said);
      }
      expect((await person.get(path)).status).toBe(404);
    },
  );

  test("gives back what was written also where the draft is gone and the form is refused for something else", async ({
    market,
  }) => {
    const { person, path } = await begun(market, "http-api");
    const open: Form = { ...(await formAt(person, path)), name: "Hours of work" };
    const { revision = "" } = open;
    await person.post(path, { act: "discard", revision });
    const typed = { ...open, secret_name: "token", secret_value: "SECRET-MARK-12345678" };
    const late = await person.post(path, { ...typed, do: "publish" });
    expect(late.html).toContain("are not kept: type them again");
    expect(late.html).not.toContain("SECRET-MARK");
    const yaml = `agent: ${person.handle}/${path.split("/").at(-1)}\nname: As text\ndescription: D\nconnector: llm\n`;
    const text = await person.post(path, { act: "yaml", revision, yaml });
    expect([text.status, text.html.includes("name: As text")]).toEqual([409, true]);
    const { account } = (await person.browser.get("/api/account")).body;
    await market.context.db.query("select count_calls($1, 60, 60)", [`changes:${account.id}`]);
    const refused = await person.post(path, { ...open, do: "publish" });
    expect([refused.status, formIn(refused.html, "build").name]).toEqual([429, "Hours of work"]);
  });

  test("gives back as a text what no form can show of a draft that is gone", async ({ market }) => {
    const { person, path } = await begun(market);
    const open = await formAt(person, path);
    const { revision = "" } = open;
    await person.post(path, { act: "discard", revision });
    const typed = {
      ...open,
      name: "Hours: of “work”",
      description: "d".repeat(5_001),
      "s.prompt": "Say {{text}}\nonce",
    };
    const late = await person.post(path, { ...typed, do: "save" });
    expect([late.status, late.html.includes("This draft was moved or discarded")]).toEqual([422, true]);
    const { yaml = "" } = allFormsIn(late.html).find(({ action }) => action === "/build")?.fields ?? {};
    expect(yaml).toContain(typed.description);
    const deep = "[".repeat(20_000) + "]".repeat(20_000);
    const lost = await person.post(path, { ...typed, connector: "http-api", "s.body": deep, do: "save" });
    expect(lost.status).toBe(404);
    const again = await person.post("/build", { act: "yaml", yaml: yaml.replace(/d{5001}/, "Shorter.") });
    expect(await formAt(person, String(again.location))).toMatchObject({
      ...{ name: typed.name, description: "Shorter.", "s.prompt": typed["s.prompt"] },
    });
  });

  test("takes a text as long as one may be in any script, and gives a longer one back", async ({ market }) => {
    const { person, path } = await begun(market);
    for (const at of [path, "/build"]) {
      for (const length of [199_000, 201_000]) {
        const typed = "字".repeat(length);
        const { status, html } = await person.post(at, { act: "yaml", revision: "", yaml: typed });
        expect([at, length, status, html.includes(typed)]).toEqual([at, length, 422, true]);
      }
    }
    const { revision = "" } = await formAt(person, path);
    const text = `agent: ${person.handle}${path.replace("/build", "")}\nname: N\nconnector: llm\nsettings:\n  prompt: `;
    const taken = await person.post(path, { act: "yaml", revision, yaml: `${text}${"字".repeat(190_000)}\n` });
    expect(taken.location).toBe(`${path}?done=taken`);
    const saved = await person.post(path, { ...(await formAt(person, path)), name: "Renamed", do: "save" });
    expect([saved.status, formIn(saved.html, "build").name]).toEqual([200, "Renamed"]);
  });

  test("takes a definition as text, and gives a refused one back as it was typed", async ({ market }) => {
    const { person, path } = await begun(market);
    const slug = path.split("/").at(-1);
    const text = `agent: ${person.handle}/${slug}\nname: From text\ndescription: D\nconnector: llm\nsettings:\n  prompt: hello\n`;
    const { revision = "" } = await formAt(person, path);
    const wrong = await person.post(path, { act: "yaml", revision, yaml: `${text}nonsense: 1\n` });
    expect([wrong.status, wrong.html.includes("nonsense: 1")]).toEqual([422, true]);
    expect((await person.post(path, { act: "yaml", revision, yaml: text })).location).toBe(`${path}?done=taken`);
    expect(await formAt(person, path)).toMatchObject({ name: "From text", "s.prompt": "hello" });
    const other = await person.post("/build", { act: "yaml", yaml: text.replace(`/${slug}`, "/other-one") });
    expect(other.location).toBe("/build/other-one");
    const taken = await person.post("/build", { act: "yaml", yaml: text });
    expect([taken.status, taken.html.includes("From text")]).toEqual([409, true]);
  });
});

describe("what a stranger or a script could want of the editor", () => {
  test("secrets are taken and never shown", async ({ market }) => {
    const { person, path } = await begun(market, "http-api");
    const form = { ...(await formAt(person, path)), secret_name: "token", secret_value: "SECRET-MARK-12345678" };
    const set = await person.post(path, {
      ...form,
      "s.headers": '{"authorization": "Bearer {{secret.token}}"}',
      do: "save",
    });
    expect(set.html).not.toContain("SECRET-MARK");
    expect(formIn(set.html, "build")).toMatchObject({ "k.token": "" });
    const gone = await person.post(path, { ...formIn(set.html, "build"), "k-gone.token": "1", do: "save" });
    expect(formIn(gone.html, "build")).not.toHaveProperty(["k.token"]);
    expect(gone.html).toContain("The secret token must be given");
  });

  test.for([
    ["x-api-key", "Letters, digits and _"],
    ["", "Give the secret a name."],
    ["9lives", "Letters, digits and _"],
  ] as const)(
    "a new secret named '%s' is refused beside its box, and all else is kept",
    async ([name, said], { market }) => {
      const { person, path } = await begun(market, "http-api");
      const form = { ...(await formAt(person, path)), name: "Kept", secret_name: name, secret_value: "SECRET-MARK-1" };
      for (const pressed of ["save", "try", "publish"]) {
        const { revision = "" } = await formAt(person, path);
        const { html, location } = await person.post(path, { ...form, revision, do: pressed });
        expect(location).toBeNull();
        expect(html).toContain(said);
        expect(formIn(html, "build")).toMatchObject({ name: "Kept", secret_name: name, secret_value: "" });
      }
    },
  );

  test("secrets that a form which was not kept held are said to be lost, and a copy says that it has none", async ({
    market,
  }) => {
    const { person, path } = await begun(market, "http-api");
    const typed = { secret_name: "token", secret_value: "SECRET-MARK-12345678" };
    const before = await formAt(person, path);
    await person.post(path, { ...before, ...typed, do: "save" });
    const late = { ...before, name: "Mine", secret_name: "second", secret_value: "SECRET-MARK-2", do: "publish" };
    const conflict = await person.post(path, late);
    expect([conflict.status, conflict.html.includes("are not kept: type them again")]).toEqual([409, true]);
    const copy = await person.post(path, { ...formIn(conflict.html, "build"), do: "copy" });
    expect(copy.location).toMatch(/\?done=copied-bare$/);
    expect((await person.get(copy.location ?? "")).html).toContain("Secrets that were set before are not in it");
  });

  test("a copy says that it has none of the former secrets also where the draft is gone meanwhile", async ({
    market,
  }) => {
    const { person, path } = await begun(market, "http-api");
    const typed = { secret_name: "token", secret_value: "SECRET-MARK-12345678" };
    const { html } = await person.post(path, { ...(await formAt(person, path)), ...typed, do: "save" });
    const open = formIn(html, "build");
    await person.post(path, { act: "discard", revision: open.revision ?? "" });
    expect((await person.get(path)).status).toBe(404);
    const copy = await person.post(path, { ...open, do: "copy" });
    expect((await person.get(copy.location ?? "")).html).toContain("Secrets that were set before are not in it");
  });

  test("whatever is written stays text, wherever it is shown", async ({ market }) => {
    const { person, path } = await begun(market);
    const evil = `"><script>alert(1)</script>`;
    const texts = Object.fromEntries(
      Object.entries(await formAt(person, path))
        .filter(
          ([name]) => !/^(act|revision|connector|f\.count|.*\.type|category|s\.(model|format)|in\..*)$/.test(name),
        )
        .map(([name, value]) => [name, /required|accepts/.test(name) ? value : evil]),
    );
    const form = { ...(await formAt(person, path)), ...texts };
    for (const pressed of ["save", "try", "add.0"]) {
      const { html } = await person.post(path, { ...form, do: pressed });
      expect(html).not.toContain("<script>alert");
    }
    const yaml = await person.post(path, { act: "yaml", revision: evil, yaml: evil });
    for (const { html } of [yaml, await person.get("/build"), await person.get(path)]) {
      expect(html).not.toContain("<script>alert");
    }
  });

  test("another's draft is not there, to be seen or changed", async ({ market }) => {
    const { person, path } = await begun(market);
    // Who means harm leaves out whom the form was shown to.
    const { account: _, ...form } = await formAt(person, path);
    const stranger = await newPerson(market);
    expect((await stranger.get(path)).status).toBe(404);
    for (const pressed of ["save", "publish", "try", "remove.0"]) {
      expect((await stranger.post(path, { ...form, name: "Taken", do: pressed })).status).toBe(404);
    }
    for (const act of ["unpublish", "discard", "restore"]) {
      expect((await stranger.post(path, { act, revision: form.revision ?? "", version: "1" })).status).toBe(404);
    }
    expect(await formAt(person, path)).toMatchObject({ name: "Summarise a text" });
  });

  test("odd forms are refused in words", async ({ market }) => {
    const { person, path } = await begun(market, "http-api");
    const form = await formAt(person, path);
    const nested = { "s.body": `${"[".repeat(50_000)}${"]".repeat(50_000)}` };
    for (const odd of [
      { ...form, "s.headers": '{"a": "\\u0000"}', do: "save" },
      { ...form, connector: "none", do: "save" },
      { ...form, name: "x".repeat(2_000), do: "save" },
      { ...form, ...nested, do: "save" },
      { act: "restore", revision: "", version: "99999999999" },
      { act: "start", connector: "none" },
    ]) {
      const { status } = await person.post("act" in odd && odd.act === "start" ? "/build" : path, odd);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
    expect((await person.post(path, { ...form, "f.count": "1e9", do: "save" })).status).toBe(200);
  });
});
