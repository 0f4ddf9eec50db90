import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtAssets } from "../../marketplace/web/browser-sources.ts";
import { figures } from "../../shared/page/figures.ts";

test("figures are grouped as Intl groups them, whatever they are", () => {
  const format = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const odd = [
    0,
    7,
    999,
    1_000,
    12_345,
    1_234_567,
    -1,
    -1_000,
    0.4,
    1_234.5,
    2 ** 60,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ];
  for (const value of [...odd, 10n ** 30n, -(10n ** 9n)]) expect(figures(value)).toBe(format.format(value));
});

test("no script of a page makes a format of Intl while it loads: the first one takes a phone a tenth of a second", () => {
  const scripts = readdirSync(builtAssets)
    .filter((name) => name.endsWith(".js"))
    .map((name) => ({ name, text: readFileSync(join(builtAssets, name), "utf8") }));
  expect(scripts.length).toBeGreaterThan(10);
  // WalletConnect's comes when a visitor asks for it.
  const ofPages = scripts.filter(({ text }) => text.length < 200_000);
  expect(ofPages.filter(({ text }) => text.includes("new Intl.")).map(({ name }) => name)).toEqual([]);
});
