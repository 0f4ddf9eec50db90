import type { Connector, ConnectorId } from "../../../marketplace/connectors/connector.ts";
import { connectors } from "../../../marketplace/connectors/registry.ts";

/** The marketplace itself, with language-model agents that answer at once, or as late as the input says in ms. */
const instant: Connector<unknown> = {
  ...connectors.get("llm")!,
  run: async ({ values }) => {
    const delayMs = Number(values.text);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    return { output: { kind: "text", text: "at once" } };
  },
};
(connectors as Map<ConnectorId, Connector<unknown>>).set("llm", instant);

/** The bench that started it asks what it keeps in memory. */
process.on("message", () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
await import("../../../marketplace/main.ts");
