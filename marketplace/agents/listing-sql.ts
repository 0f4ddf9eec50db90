import type { ListQuery } from "./list.ts";

/** The condition of a query's filters, whose values are added to `values`. */
export function filters({ creator, connector }: Pick<ListQuery, "creator" | "connector">, values: unknown[]): string {
  const conditions = [
    ...(creator === undefined ? [] : [`lower(handle) = $${values.push(creator.toLowerCase())}`]),
    ...(connector === undefined ? [] : [`connector = $${values.push(connector)}`]),
  ];
  return conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
}

/** What an agent is listed with. */
export const columns = "handle, slug, name, description, connector, price_credits, created_at";
/** SQL: a page of rows as one JSON array. */
export const asArray = (page: string) => `(select coalesce(json_agg(page), '[]') from (${page}) page)`;

export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}
