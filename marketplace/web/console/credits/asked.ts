import type { z } from "zod";
import { statementQuery } from "../../../credits/statement.ts";
import { readQuery } from "../../../query.ts";

/** What a visitor asks of the statement, by the page's address. */
export interface StatementAsked {
  /** Written `2026-11`; empty for all of time. */
  readonly month: string;
  readonly kind: string;
  readonly key: string;
  /** An agent's address, or a run's id. */
  readonly about: string;
  /** Whether rows are left out that the period has. */
  readonly isFiltered: boolean;
  readonly query: z.infer<typeof statementQuery>;
  /** The query under the API's names, for the file. */
  readonly parameters: URLSearchParams;
}

const rows = 25;

export function statementAsked(given: URLSearchParams): StatementAsked {
  const month = monthIn(given.get("month"));
  const [kind, key, about] = ["kind", "key", "about"].map((name) => (given.get(name) ?? "").trim().slice(0, 200));
  const parameters = new URLSearchParams();
  const ask = (name: string, value: string | undefined) => value && parameters.set(name, value);
  if (month !== "") {
    ask("from", `${month}-01`);
    ask("to", lastDayOf(month));
  }
  ask("kind", kind);
  ask("key_id", key);
  ask(about?.startsWith("run_") ? "run_id" : "agent", about);
  const cursor = given.get("cursor") ?? "";
  const query = readQuery(statementQuery, { ...Object.fromEntries(parameters), limit: String(rows), cursor });
  return {
    month,
    kind: kind ?? "",
    key: key ?? "",
    about: about ?? "",
    isFiltered: Boolean(kind || key || about),
    query,
    parameters,
  };
}

/** The month now and the ones before, newest first. */
export function lastMonths(count: number, now = new Date()): string[] {
  return Array.from({ length: count }, (_, back) => {
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7);
  });
}

/** `November 2026`. */
export function monthName(month: string): string {
  return new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    new Date(`${month}-01T00:00:00Z`),
  );
}

/** This month, unless another one, or `all`, is asked for. */
function monthIn(given: string | null): string {
  if (given === "all") return "";
  return given && /^20\d\d-(0[1-9]|1[0-2])$/.test(given) ? given : (lastMonths(1)[0] as string);
}

function lastDayOf(month: string): string {
  const [year = 0, at = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, at, 0)).toISOString().slice(0, 10);
}
