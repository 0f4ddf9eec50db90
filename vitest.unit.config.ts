import { defineConfig } from "vitest/config";

/** `npm run test:unit`: what needs no database, no chain, no server and no process of its own, in seconds. */
export default defineConfig({
  test: {
    include: ["test/**/*.unit.test.ts"],
    isolate: false,
    // A third of the time was reading the same sources by way of Vite again.
    experimental: { fsModuleCache: true },
    maxWorkers: 2,
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
