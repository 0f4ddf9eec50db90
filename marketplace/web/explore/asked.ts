import { ApiError } from "../../../shared/errors.ts";
import { categoryNames } from "../../agents/category.ts";
import { type ListQuery, listQuery } from "../../agents/list-query.ts";
import { connectorNames } from "../../connectors/connector.ts";
import { readQuery } from "../../query.ts";
import { networkName } from "../agent/networks.tsx";

/** What the address of a list of agents asks for. */
export interface Asked {
  /** The parameters that say something, as the API takes them. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly query: ListQuery;
  /** The problem with a parameter, which the query then leaves out. */
  readonly problem: string | undefined;
}

const known = ["q", "creator", "connector", "category", "tag", "network", "min_price", "max_price", "free", "per_call"];
const read = [...known, "sort", "cursor"];

/** Boxes that are ticked come one by one; the API takes them separated by commas. */
export function readAsked(search: URLSearchParams, agentsAPage: number): Asked {
  const parameters = new Map<string, string>();
  for (const name of read) {
    const value = search.getAll(name).filter(Boolean).join(",").trim();
    if (value !== "") parameters.set(name, value);
  }
  try {
    return { parameters, query: queryOf(parameters, agentsAPage), problem: undefined };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "bad_request") throw error;
    return { parameters, query: queryOf(readable(parameters, agentsAPage), agentsAPage), problem: error.message };
  }
}

/** The parameters that can be read by themselves; two prices that exclude each other are both left out. */
function readable(parameters: ReadonlyMap<string, string>, agentsAPage: number): ReadonlyMap<string, string> {
  const canBeRead = (...some: ReadonlyArray<[string, string]>) => {
    try {
      queryOf(new Map(some), agentsAPage);
      return true;
    } catch {
      return false;
    }
  };
  const each = [...parameters].filter(([name, value]) => name !== "cursor" && canBeRead([name, value]));
  return new Map(canBeRead(...each) ? each : each.filter(([name]) => !name.endsWith("_price")));
}

/** Without words there is no best match: the agents that run most come first. */
function queryOf(parameters: ReadonlyMap<string, string>, agentsAPage: number): ListQuery {
  const query = readQuery(listQuery, { ...Object.fromEntries(parameters), limit: String(agentsAPage) });
  const hasOrder = query.q?.trim() || (query.sort && query.sort !== "relevance");
  return hasOrder ? query : { ...query, sort: "most_run" };
}

/** The address with some parameters changed; undefined takes one away. It begins at the first page. */
export function exploreHref(
  { parameters }: Pick<Asked, "parameters">,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = new URLSearchParams([...parameters].filter(([name]) => name !== "cursor"));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) given.delete(name);
    else given.set(name, value);
  }
  const text = String(given);
  return text === "" ? "/explore" : `/explore?${text}`;
}

/** The filters that are on, in words, and the address without each. */
export function filtersOn(asked: Asked): ReadonlyArray<{ readonly label: string; readonly without: string }> {
  const { query } = asked;
  const { creator, connector = [], category, tag, network = [], min_price, max_price, free, per_call } = query;
  const one = (name: string, label: string) => ({ label, without: exploreHref(asked, { [name]: undefined }) });
  const each = (name: string, values: readonly string[], label: (value: string) => string) =>
    values.map((value) => {
      const others = values.filter((other) => other !== value).join(",");
      return { label: label(value), without: exploreHref(asked, { [name]: others || undefined }) };
    });
  return [
    ...(creator === undefined ? [] : [one("creator", `By ${creator}`)]),
    ...(per_call ? [one("per_call", "Without an account")] : []),
    ...(free ? [one("free", "Free")] : []),
    ...(category === undefined ? [] : [one("category", categoryNames[category])]),
    ...(tag === undefined ? [] : [one("tag", `#${tag}`)]),
    ...each("network", network, networkName),
    ...each("connector", connector, (id) => connectorNames[id as keyof typeof connectorNames]),
    ...(min_price === undefined ? [] : [one("min_price", `From ${min_price} credits`)]),
    ...(max_price === undefined ? [] : [one("max_price", `Up to ${max_price} credits`)]),
  ];
}

/** Whether not all agents are asked for. */
export const isNarrowed = (asked: Asked) => asked.query.q !== undefined || filtersOn(asked).length > 0;

/** The call of the API that searches for this. */
export function apiCall({ parameters }: Asked): string {
  const text = String(new URLSearchParams([...parameters].filter(([name]) => name !== "cursor")));
  return `GET /api/v1/agents${text === "" ? "" : `?${text}`}`;
}
