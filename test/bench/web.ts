import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { Pool } from "undici";
import { browserSources } from "../../marketplace/web/browser-sources.ts";
import { assetsOf } from "../../shared/page/assets.ts";
import { bundle } from "../../shared/page/bundle.ts";
import { findChromium } from "../support/chromium.ts";
import { loadedWhenWanted } from "../support/when-wanted.ts";
import { measure } from "./load.ts";
import { catalogWords, seedCatalog } from "./marketplace/seed-catalog.ts";
import { seedBench, startSetting } from "./marketplace/setting.ts";
import { loadOnPhone, type PageFigures, pressOnPhone, slowdown } from "./web/phone.ts";

const agents = Number(process.argv.find((word) => word.startsWith("--agents="))?.slice(9) ?? 1_000_000);
const loadsEach = 3;
const callsEach = 200;

interface Budget {
  readonly path: string;
  /** Kilobytes of JavaScript, gzipped. */
  readonly scriptKb: number;
  /** A button that must answer a press. */
  readonly press?: string;
}

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

const budgets = { lcpMs: 1_500, cls: 0.02, tbtMs: 100, pressMs: 200, styleKb: 15, pageKb: 30, serverMs: 30 };

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
    process.stdout.write(
      `\nWebsite, ${agents} agents; 375 px, slow 4G, a processor ${slowdown}× as slow; worst of ${loadsEach} loads; kilobytes gzipped\n`,
    );
    process.stdout.write(
      `${row(["page", "LCP ms", "CLS", "TBT ms", "press ms", "JS kB", "CSS kB", "HTML kB", "server p95 ms"])}\n`,
    );
    for (const page of pages) process.stdout.write(`${await rowOf(browser, origin, page)}\n`);
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

type Chromium = Awaited<ReturnType<typeof chromium.launch>>;

async function rowOf(browser: Chromium, origin: string, { path, scriptKb, press }: Budget): Promise<string> {
  const loads: PageFigures[] = [];
  for (let n = 0; n < loadsEach; n += 1) loads.push(await loadOnPhone(browser, origin + path));
  const worst = (figure: (load: PageFigures) => number) => Math.max(...loads.map(figure));
  const weights = await weightsOf(loads[0]?.loaded ?? []);
  const pressMs = press ? await pressOnPhone(browser, origin + path, press) : undefined;
  return row([
    path,
    held(
      worst(({ lcpMs }) => lcpMs),
      budgets.lcpMs,
      0,
    ),
    held(
      worst(({ cls }) => cls),
      budgets.cls,
      3,
    ),
    held(
      worst(({ tbtMs }) => tbtMs),
      budgets.tbtMs,
      0,
    ),
    pressMs === undefined ? "" : held(pressMs, budgets.pressMs, 0),
    held(weights.script, scriptKb, 1),
    held(weights.style, budgets.styleKb, 1),
    held(weights.page, budgets.pageKb, 1),
    held(await serverMs(origin, path), budgets.serverMs, 1),
  ]);
}

/** The figure and its budget, and a mark where it is above it. */
function held(figure: number, budget: number, digits: number): string {
  return `${figure.toFixed(digits)}${figure > budget ? " > " : " ≤ "}${budget}`;
}

const row = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(column === 0 ? 24 : 15)).join("");

async function weightsOf(urls: readonly string[]): Promise<{ script: number; style: number; page: number }> {
  const weights = { script: 0, style: 0, page: 0 };
  for (const url of new Set(urls)) {
    const answer = await fetch(url, { headers: { accept: "text/html,*/*;q=0.8", "accept-encoding": "identity" } });
    const kilobytes = gzipSync(Buffer.from(await answer.arrayBuffer()), { level: 9 }).length / 1_000;
    const type = answer.headers.get("content-type") ?? "";
    if (type.startsWith("text/javascript")) weights.script += kilobytes;
    if (type.startsWith("text/css")) weights.style += kilobytes;
    if (type.startsWith("text/html")) weights.page += kilobytes;
  }
  return weights;
}

async function serverMs(origin: string, path: string): Promise<number> {
  const pool = new Pool(origin, { connections: 1, pipelining: 1 });
  const headers = { accept: "text/html", "accept-encoding": "br" };
  const get = async () => {
    const { statusCode, body } = await pool.request({ method: "GET", path, headers });
    await body.dump();
    return statusCode === 200;
  };
  const calls = (count: number) => Array.from({ length: count }, () => get);
  await measure(calls(20), 1);
  const { p95Ms, succeeded } = await measure(calls(callsEach), 1);
  await pool.close();
  if (succeeded < callsEach) throw new Error(`${path} is not there`);
  return p95Ms;
}
