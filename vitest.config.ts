import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // Every file brings its own databases and servers; many of them mostly wait, so three keep two cores busy.
    maxWorkers: 3,
    // Loading the chains' libraries afresh for each file took a quarter of the run. So a worker's files share modules, ours
    // too, as requests do in a service: what these keep for themselves are caches and scratch space.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
