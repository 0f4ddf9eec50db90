import type { IconName } from "../../../shared/page/icons.tsx";
import type { ConnectorId } from "../../connectors/connector.ts";
import { connectors } from "../../connectors/registry.ts";

/** The icon of the connector that an agent runs on; a bot where that connector is no longer offered. */
export function connectorIcon(connector: ConnectorId): IconName {
  return connectors.get(connector)?.guide.icon ?? "bot";
}
