import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // Every file brings its own databases and servers; many of them mostly wait, so three keep two cores busy.
    maxWorkers: 3,
    // Loading the chains' libraries afresh for each file took a quarter of the run; files share nothing of ours but that.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
