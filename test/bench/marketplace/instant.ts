import type { Connector, ConnectorId } from "../../../marketplace/connectors/connector.ts";
import { connectors } from "../../../marketplace/connectors/registry.ts";
import { instantRun } from "./instant-run.ts";

/** The marketplace itself, with language-model agents that answer at once: what remains is what the service costs. */
const instant: Connector<unknown> = {
  ...connectors.get("llm")!,
  run: instantRun,
};
(connectors as Map<ConnectorId, Connector<unknown>>).set("llm", instant);
await import("../../../marketplace/main.ts");
