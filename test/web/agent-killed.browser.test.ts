import { once } from "node:events";
import { expect } from "vitest";
import { freePort } from "../../infra/free-port.ts";
import { startProcess } from "../support/marketplace-process.ts";
import { open } from "./browser.ts";
import { test } from "./chromium.ts";
import { type PaidSite, startPaidSite } from "./paid-site.ts";

let site: PaidSite;
let environment: Record<string, string>;
test.beforeAll(async ({ chromium }) => {
  site = await startPaidSite(chromium, { RUN_LEASE_MS: "2000" });
  environment = { ...site.environment, MARKETPLACE_PORT: String(await freePort()) };
}, 120_000);
test.afterAll(() => site?.stop());

test.each([
  ["evm", "the agent runs", "running"],
  ["hedera", "its settlement is not known there yet", "settled"],
] as const)(
  "a payment on %s whose service is killed while %s is charged once, and a reload shows its result",
  async (chain, _when, state) => {
    const network = chain === "evm" ? /Base Sepolia/ : /Hedera testnet/;
    const doomed = await startProcess(environment);
    const { page, close } = await open({ ...site, url: doomed.url }, site.summarizer);
    const before = await site.usdcOf(chain);
    if (state === "running") site.model.injectFault({ delayMs: 600_000 });
    else site.paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    await page.locator("#in-text").fill("Killed meanwhile.");
    await page.locator("#wallet-name").getByText("Demo wallet").waitFor();
    await page.getByRole("radio", { name: network }).check({ force: true });
    await page.getByRole("button", { name: /Pay and run/ }).click();
    await page.locator("#payment").getByText(state, { exact: true }).waitFor();
    doomed.child.kill("SIGKILL");
    await once(doomed.child, "exit");
    // The page would ask again by itself; here it is the reload that finds the payment.
    await page.goto("about:blank");
    site.model.clearFaults();
    site.paid.toFacilitator.behave(() => "pass");
    const next = await startProcess(environment);
    try {
      await page.goto(next.url + site.summarizer);
      expect(await page.locator("#in-text").inputValue()).toBe("Killed meanwhile.");
      await page.locator("#result").getByText("found again, not paid twice").waitFor();
      expect(before - (await site.usdcOf(chain))).toBe(50_000n);
      await close();
    } finally {
      next.child.kill("SIGKILL");
    }
  },
  600_000,
);
