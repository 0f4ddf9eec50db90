import { chromium } from "playwright-core";
import { browserSources } from "../../marketplace/web/browser-sources.ts";
import { assetsOf } from "../../shared/page/assets.ts";
import { bundle } from "../../shared/page/bundle.ts";
import { findChromium } from "../support/chromium.ts";
import { loadedWhenWanted } from "../support/when-wanted.ts";
import { catalogWords, seedCatalog } from "./marketplace/seed-catalog.ts";
import { seedBench, startSetting } from "./marketplace/setting.ts";
import { type Budget, held, printPages } from "./web/budgets.ts";

const agents = Number(process.argv.find((word) => word.startsWith("--agents="))?.slice(9) ?? 1_000_000);

const pages: readonly Budget[] = [
  { path: "/", scriptKb: 8, press: "Run" },
  { path: "/explore", scriptKb: 8 },
  { path: `/explore?q=${catalogWords[17]}`, scriptKb: 8 },
  { path: "/bench-creator", scriptKb: 8 },
  { path: "/bench-creator/instant", scriptKb: 25, press: "Run" },
  { path: "/svg", scriptKb: 40 },
  { path: "/docs", scriptKb: 8 },
  { path: "/pricing", scriptKb: 8 },
  { path: "/sign-in", scriptKb: 8 },
];

/** Every page on a slow phone, what it loads, and how long the service takes for it among a million agents. */
export async function benchWeb(): Promise<void> {
  const executablePath = findChromium();
  if (!executablePath) return void process.stdout.write("\nWebsite: skipped, there is no Chromium\n");
  const setting = await startSetting();
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const { url, db } = await setting.database("web");
    await seedBench(db);
    await seedCatalog(db, url, agents);
    const tried = {
      HOME_AGENT: "bench-creator/instant",
      HOME_PAYER: "buyer",
      SESSION_SECRET: "a secret of the bench, long enough",
    };
    const mail = { SMTP_URL: "smtp://127.0.0.1:1", MAIL_FROM: "bench@example.com" };
    const origin = await setting.service(url, undefined, { ...tried, ...mail });
    await printPages(`Website, ${agents} agents`, { browser, origin, pages });
    process.stdout.write(`${await whenWanted()}\n`);
  } finally {
    await browser.close();
    await setting.stop();
  }
}

/** What pages load only when a visitor asks for it. */
async function whenWanted(): Promise<string> {
  const assets = assetsOf(await bundle(browserSources));
  const weights = Object.entries(loadedWhenWanted).map(([name, bytesMax]) => {
    return `${name} ${held(assets.weightOf(name) / 1_000, bytesMax / 1_000, 1)}`;
  });
  return `when wanted, JS kB: ${weights.join(", ")}`;
}
