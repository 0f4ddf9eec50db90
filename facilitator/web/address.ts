import { resourceLengthMax } from "../transactions.ts";
import type { Visit } from "./page.ts";

/** Rows of a page of a list. */
export const rowsAPage = 25;

/** The page's address with its parameters of these names, some of them changed; undefined takes one away. */
export function addressOf(
  { query, path }: Pick<Visit, "query" | "path">,
  names: readonly string[],
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const next = new URLSearchParams(names.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name);
    else next.set(name, value);
  }
  return next.size === 0 ? path : `${path}?${next}`;
}

/** The payments for a resource; undefined where its URL is too long to ask for. */
export function paymentsFor(url: string): string | undefined {
  return url.length > resourceLengthMax ? undefined : `/transactions?resource=${encodeURIComponent(url)}`;
}
