import { type Figures, measure } from "../load.ts";
import { catalogWords, seedCatalog } from "./seed-catalog.ts";
import { caller, type Seeded, type Setting, seedBench } from "./setting.ts";

const sizes = [10_000, 1_000_000];
const callsEach = 300;

/** How long a page of the catalog takes, at ten thousand and at a million agents. */
export async function benchCatalog(setting: Setting): Promise<void> {
  const words = catalogWords;
  const catalogs: Array<{ get: (path: string) => Promise<boolean>; close: () => Promise<void>; names: string[] }> = [];
  for (const size of sizes) {
    const { url, db } = await setting.database(`catalog_${size}`);
    const { key }: Seeded = await seedBench(db);
    await seedCatalog(db, url, size);
    const { rows } = await db.query(
      "select name from listings where agent_id ~ '^agt_[0-9]+9$' order by agent_id limit 300",
    );
    catalogs.push({ ...caller(await setting.service(url), key.token, 1), names: rows.map(({ name }) => name) });
  }
  const word = (n: number) => words[(n * 17) % 5_000]!;
  const asked: Record<string, (names: readonly string[], n: number) => string> = {
    "list, newest": (_names, n) => `/api/v1/agents?offset=${n % 200}`,
    "list, one connector": (_names, n) => `/api/v1/agents?connector=http-api&offset=${n % 200}`,
    "list, one creator": (_names, n) => `/api/v1/agents?creator=maker-${(n % 100) + 1}`,
    "search, an agent's name": (names, n) => `/api/v1/agents?q=${encodeURIComponent(names[n % names.length]!)}`,
    "search, a word of one agent in 400": (_names, n) => `/api/v1/agents?q=${word(n)}`,
    "search, that word on one connector": (_names, n) => `/api/v1/agents?connector=llm&q=${word(n)}`,
    "search, two words that some agents have": (_names, n) => `/api/v1/agents?q=${word(n)}+${word(n + 1)}`,
    "search, a typo in that word": (_names, n) => `/api/v1/agents?q=${word(n).slice(0, 3)}${word(n).slice(4)}`,
    "search, three words no agent has all of": (_names, n) =>
      `/api/v1/agents?q=${word(n)}+${word(n + 7)}+${word(n + 9)}+${word(n + 11)}`,
    "search, that word, cheapest first": (_names, n) => `/api/v1/agents?sort=cheapest&q=${word(n)}`,
    "search, that word below a price": (_names, n) => `/api/v1/agents?max_price=9&q=${word(n)}`,
    "list, most run": () => "/api/v1/agents?sort=most_run",
    "list, most run of a category": () => "/api/v1/agents?sort=most_run&category=data",
    "list, a tag": (_names, n) => `/api/v1/agents?tag=tag-${n % 1_000}`,
    "list, free on one connector": () => "/api/v1/agents?free=true&connector=llm",
    "list, a network, price and category": (_names, n) =>
      `/api/v1/agents?network=hedera:mainnet&max_price=${n % 40}&category=images&sort=cheapest`,
  };
  process.stdout.write("\nCatalog: p50 of one request, ms (wanted: at a million at most twice that at ten thousand)\n");
  for (const [what, path] of Object.entries(asked)) {
    const figures: Figures[] = [];
    for (const { get, names } of catalogs) {
      const calls = (count: number) => Array.from({ length: count }, (_, n) => () => get(path(names, n)));
      await measure(calls(50), 1);
      figures.push(await measure(calls(callsEach), 1));
    }
    const [small, large] = figures as [Figures, Figures];
    const ratio = (large.p50Ms / small.p50Ms).toFixed(2);
    const succeeded = figures.map(({ succeeded, calls }) => `${succeeded}/${calls}`).join(" ");
    process.stdout.write(
      `${what.padEnd(38)} 10,000: ${small.p50Ms.toFixed(2)}   1,000,000: ${large.p50Ms.toFixed(2)}   ${ratio}×   ${succeeded}\n`,
    );
  }
  for (const { close } of catalogs) await close();
}
