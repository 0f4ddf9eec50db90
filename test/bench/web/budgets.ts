import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { Pool } from "undici";
import { measure } from "../load.ts";
import { loadOnPhone, type PageFigures, pressOnPhone, slowdown } from "./phone.ts";

const loadsEach = 3;
const callsEach = 200;

export interface Budget {
  readonly path: string;
  /** How the table names it; its path when left out. */
  readonly name?: string;
  /** Kilobytes of JavaScript, gzipped. */
  readonly scriptKb: number;
  /** A button that must answer a press. */
  readonly press?: string;
}

const budgets = { lcpMs: 1_500, cls: 0.02, tbtMs: 100, pressMs: 200, styleKb: 15, pageKb: 30, serverMs: 30 };

/** Every page on a slow phone, what it loads, and how long its service takes for it, each figure beside its budget. */
export async function printPages(title: string, { browser, origin, pages }: Site): Promise<void> {
  const heads = ["page", "LCP ms", "CLS", "TBT ms", "press ms", "JS kB", "CSS kB", "HTML kB", "server p95 ms"];
  process.stdout.write(
    `\n${title}; 375 px, slow 4G, a processor ${slowdown}× as slow; worst of ${loadsEach} loads; kilobytes gzipped\n${row(heads)}\n`,
  );
  // The browser's own start is no page's.
  if (pages[0]) await loadOnPhone(browser, origin + pages[0].path);
  for (const page of pages) process.stdout.write(`${await rowOf(browser, origin, page)}\n`);
}

interface Site {
  readonly browser: Browser;
  readonly origin: string;
  readonly pages: readonly Budget[];
}

async function rowOf(
  browser: Browser,
  origin: string,
  { path, name = path, scriptKb, press }: Budget,
): Promise<string> {
  const loads: PageFigures[] = [];
  for (let n = 0; n < loadsEach; n += 1) loads.push(await loadOnPhone(browser, origin + path));
  const worst = (figure: (load: PageFigures) => number) => Math.max(...loads.map(figure));
  const weights = await weightsOf(loads[0]?.loaded ?? []);
  const pressMs = press ? await pressOnPhone(browser, origin + path, press) : undefined;
  return row([
    name,
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
export function held(figure: number, budget: number, digits: number): string {
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
