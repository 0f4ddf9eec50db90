import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Files that set a timer of their own, and why they cannot take `elapse`. */
const listed: Readonly<Record<string, string>> = {
  "support/elapse.ts": "the one place where tests let a time pass, and say why",
  "marketplace/connectors/hostile-upstream.test.ts": "the text of a worker, which imports nothing",
  "web/svg.browser.test.ts": "runs in the page",
  "web/walletconnect.browser.test.ts": "runs in the page",
};

test("no test waits for a time by itself: it waits for what happens, or tells `elapse` why time is what it gives", () => {
  const files = readdirSync(fileURLToPath(new URL(".", import.meta.url)), { recursive: true, encoding: "utf8" });
  const waiting = files.filter((file) => isRuled(file) && waits.test(read(file)));
  expect(waiting.toSorted()).toEqual(Object.keys(listed).toSorted());
});

/** Programs that measure or last for minutes (`npm run bench`, `npm run drill`) keep a pace of their own. */
const isRuled = (file: string) =>
  /\.tsx?$/.test(file) && !/^bench\/|^drills\/.*(?<!\.test)\.ts$/.test(file) && file !== "waiting.unit.test.ts";

/** In quotes, `setTimeout` is what a test has faked (`toFake`). */
const waits = /(?<!")\bsetTimeout\b(?!")|\b(waitForTimeout|scheduler\.wait)\b/;

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
