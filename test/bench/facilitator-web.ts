import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { findChromium } from "../support/chromium.ts";
import { filled, withDatabase } from "./facilitator-record.ts";
import { foundIn, withFacilitator } from "./record-pages.ts";
import { type Budget, printPages } from "./web/budgets.ts";

const records = 100_000;

/** The facilitator's pages on a slow phone. What ten million records cost them on the server: `npm run bench facilitator-record -- --large`. */
export async function benchFacilitatorWeb(): Promise<void> {
  const executablePath = findChromium();
  if (!executablePath) return void process.stdout.write("\nThe facilitator's pages: skipped, there is no Chromium\n");
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  const postgres = await startPostgres({ directory: join(directory, "postgres"), durable: false });
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const url = await filled(postgres, records);
    const pages = pagesOn(await withDatabase(url, foundIn));
    await withFacilitator(url, (origin) =>
      printPages(`The facilitator's pages, ${records} records`, { browser, origin, pages }),
    );
  } finally {
    await browser.close();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function pagesOn({ payer, payee, resource, transaction }: Awaited<ReturnType<typeof foundIn>>): readonly Budget[] {
  const paths: ReadonlyArray<readonly [name: string, path: string]> = [
    ["/", "/?env=mainnet"],
    ["/?days=365", "/?env=mainnet&days=365"],
    ["/transactions", "/transactions?env=mainnet"],
    ["/tx/…", `/tx/${transaction}`],
    ["/payees", "/payees?env=mainnet"],
    ["/payees/…", `/payees/${payee}?env=mainnet`],
    ["/payers/…", `/payers/${payer}?env=mainnet`],
    ["/resources", "/resources?env=mainnet"],
    ["/resources/…", `/resources/${resource}?env=mainnet`],
    ["/resources/check", "/resources/check?env=testnet"],
    ["/status", "/status?env=testnet"],
    ["/docs", "/docs?env=testnet"],
  ];
  return paths.map(([name, path]) => ({ name, path, scriptKb: 8 }));
}
