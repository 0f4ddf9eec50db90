import { environmentOf, networkOf } from "../../../shared/networks.ts";
import { type FieldRow, fieldRows } from "../../../shared/reference/schema-rows.ts";
import { connectorNames } from "../../connectors/connector.ts";
import { type AnyConnector, connectors } from "../../connectors/registry.ts";
import { stablecoinOn } from "../../stablecoins.ts";
import { type StatusNote, statusNotes } from "./statuses.ts";

/** Tables of the documentation that are made from what the code goes by, as Markdown. */

export function tableOf(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]) => `| ${cells.map(inCell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

const inCell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** A field as a row of such a table: its name, its type, what it is. */
export function fieldCells({ name, type, required, description, rules }: FieldRow): string[] {
  const said = rules.length > 0 ? description.replace(/\.$/, "") : description;
  const meaning = [said, ...rules].filter((text) => text !== "").join("; ");
  return [`\`${name}\``, `${type}${required ? ", required" : ""}`, meaning];
}

export function statusTable(operation: keyof typeof statusNotes): string {
  const notes: readonly StatusNote[] = statusNotes[operation];
  return tableOf(
    ["Status", "Means", "Money", "Do"],
    notes.map(({ status, means, money, next }) => [`\`${status}\``, means, money, next]),
  );
}

export function connectorChapters(operator: string | undefined): string {
  return [...connectors.values()].map((connector) => connectorChapter(connector, operator)).join("\n\n");
}

function connectorChapter(connector: AnyConnector, operator: string | undefined): string {
  const { id, guide, timeLimitMs, permanent, needsAccount, takesSecrets } = connector;
  const facts = [
    `up to ${timeLimitMs / 1_000} s`,
    permanent ? "**cannot be undone**, so paid before it runs" : "charged when it worked",
    ...(takesSecrets ? ["takes secrets"] : []),
    ...(needsAccount ? ["for buyers with an account"] : []),
  ];
  return [
    `## ${connectorNames[id]}`,
    `\`${id}\`: ${facts.join(", ")}.`,
    guide.does,
    ...(guide.brings ? [`You bring ${guide.brings({ operator })}.`] : []),
    tableOf(
      ["Setting", "Type", "Is"],
      fieldRows(connector.settings).map((row) => settingCells(row, guide.settings[row.name])),
    ),
  ].join("\n\n");
}

function settingCells({ name, type, required, rules }: FieldRow, meaning = ""): string[] {
  const said = [meaning, ...(required ? ["required"] : []), ...rules].filter(Boolean).join("; ");
  return [`\`${name}\``, type, said];
}

/** Where calls can be paid here, and with which token. */
export function networkTable(networks: readonly string[]): string {
  if (networks.length === 0) return "No network can be named at the moment: the facilitator does not answer.";
  return tableOf(
    ["Network", "Id", "Money", "USDC"],
    networks.map((id) => {
      const money = environmentOf(id) === "mainnet" ? "real" : "test";
      return [networkOf(id)?.name ?? id, `\`${id}\``, money, `\`${stablecoinOn(id)?.asset ?? "–"}\``];
    }),
  );
}
