import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { findChromium } from "./test/support/chromium.ts";
import { compiledCode, compiledFiles } from "./test/support/compiled-code.ts";

/**
 * Drills first: they wait for leases and deadlines most of the time, and everything else fills their waits. Pages in a real
 * browser last: they keep every core busy, and beside them drills would run into their deadlines.
 */
const order = [/\/test\/drills\//, /(?<!\.browser)\.test\.ts$/, /\.browser\.test\.ts$/];

/**
 * Small files that take longest. Without times of an earlier run the largest file is begun first, so that everything else
 * would be over and these would still wait.
 */
const longest = [
  "stack",
  "effects-after-kill",
  "guides",
  "sessions",
  "nonce-gaps",
  "made-up-payments",
  "hedera-paid",
  "facilitator.browser",
  "reading.browser",
  "agent-killed.browser",
];

class DrillsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const group = ({ moduleId }: TestSpecification) => order.findIndex((pattern) => pattern.test(moduleId));
    const isShort = ({ moduleId }: TestSpecification) =>
      Number(!longest.some((name) => moduleId.includes(`/${name}.`)));
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => group(a) - group(b) || isShort(a) - isShort(b));
  }
}

/** In CI a browser that is missing is a failure; elsewhere its tests are left out, and one is told. */
const withBrowser = findChromium() !== undefined || process.env.BROWSER_TESTS === "required";
if (!withBrowser)
  console.warn(
    "The website's tests (*.browser.test.ts) are skipped: there is no Chromium; apt install chromium-headless-shell",
  );

/** Every file brings its own databases and servers. */
export default defineConfig({
  plugins: [compiledCode],
  test: {
    include: ["test/**/*.test.ts"],
    exclude: withBrowser ? [] : ["test/**/*.browser.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    server: { deps: { external: [compiledFiles] } },
    // Loading the chains' libraries afresh for each file took a quarter of the run. So a worker's files share modules, ours
    // too, as requests do in a service: what these keep for themselves are caches and scratch space.
    isolate: false,
    // What a request allocates dies young: with room for more of it, from the first on, a collection has less to copy.
    execArgv: ["--min-semi-space-size=32", "--max-semi-space-size=32"],
    // Most files wait for a part of their time, so three keep two cores busy. More get into each other's way: 231 tests took 228 s of
    // the processor with three, 332 with four, 396 with six, and 123, 171 and 202 by the clock.
    maxWorkers: 3,
    // What is waited for comes at once, unless the machine is busy: these end a test whose promise is broken, and no other.
    // So no test names a shorter time of its own.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    sequence: { sequencer: DrillsFirst },
  },
});
