/** The daemon, and the memory it holds when asked: what garbage collection can free is freed first. */
process.on("message", () => {
  const { gc } = globalThis as { gc?: () => void };
  for (let round = 0; round < 3; round += 1) gc?.();
  process.send?.(process.memoryUsage());
});
await import("../../../facilitator/main.ts");
