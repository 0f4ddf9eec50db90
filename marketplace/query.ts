import { z } from "zod";
import { ApiError } from "../shared/errors.ts";
import { parse } from "./parse.ts";

/** A query string in the schema's form; an empty parameter is one that was not given. 400 naming what is wrong. */
export function readQuery<T>(schema: z.ZodType<T>, query: Readonly<Record<string, unknown>>): T {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
  return parse(schema, given, "bad_request");
}

/** Given once, within its bounds; whatever is wrong, the bounds are said. */
export function wholeNumber(min: number, max: number) {
  const wrong = `must be a whole number from ${min} to ${max}, given once`;
  const digits = z.string(wrong).regex(/^\d{1,9}$/, wrong);
  return digits.transform(Number).pipe(z.int().min(min, wrong).max(max, wrong));
}

/** A day (UTC) that PostgreSQL knows: it has no year 0. */
export const dayText = z.iso.date().refine((day) => !day.startsWith("0000"), "must be a day, such as 2026-11-22");

/** Text that PostgreSQL can compare: it has no NUL. */
export const searchText = (lengthMax: number) =>
  z
    .string()
    .max(lengthMax)
    .transform((text) => text.replaceAll("\0", ""))
    .pipe(z.string().max(lengthMax));

/** Rows of a page where a caller does not say how many, and at most. */
export const rowsUsual = 20;
export const rowsMax = 100;
/** `rows` is what it lists, such as "Files". */
export const limitOf = (rows: string) => wholeNumber(1, rowsMax).default(rowsUsual).describe(`${rows} a page.`);

/** The parameters of a list whose pages are counted by rows. */
export const offsetQuery = (rows: string, skippedMax = 1_000_000) => ({
  limit: limitOf(rows),
  offset: wholeNumber(0, skippedMax).default(0).describe(`${rows} to skip.`),
});

/** The parameters of a list that is read page by page, newest first, and whose rows' ids look like `id`. */
export const pageQuery = (id: RegExp) => ({
  limit: limitOf("Rows"),
  cursor: z
    .string()
    .transform((text) => readPlace(text, id))
    .optional()
    .meta({ type: "string", description: "`cursor` of the page before." }),
});

/** Where a page ends: the moment in microseconds, as PostgreSQL keeps them, and the id that tells its rows apart. */
export interface Place {
  readonly createdMicros: bigint;
  readonly id: string;
}

/** One page of `limit + 1` rows read, and the cursor of the next one: null when there is none. */
export function pageOf<Row extends Place>(
  rows: readonly Row[],
  limit: number,
): { page: readonly Row[]; cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const place = last && rows.length > limit ? `${last.createdMicros}.${last.id}` : undefined;
  return { page, cursor: place === undefined ? null : Buffer.from(place).toString("base64url") };
}

/**
 * The first items that fit into one page as JSON, whatever their number; one at least. They are made as far as the page is not full yet:
 * each may take as much to make as the page has room for.
 */
export async function fitting<From, Item>(
  all: readonly From[],
  make: (from: From) => Promise<Item> | Item,
): Promise<Item[]> {
  const items: Item[] = [];
  let length = 0;
  for (let at = 0; at < all.length; at += madeTogether) {
    for (const item of await Promise.all(all.slice(at, at + madeTogether).map(make))) {
      length += JSON.stringify(item)?.length ?? 0;
      if (length > pageLengthMax && items.length > 0) return items;
      items.push(item);
    }
  }
  return items;
}

const madeTogether = 8;

/** Characters. A page of a hundred agents as creators usually publish them has less than half of it. */
export const pageLengthMax = 262_144;

/** SQL: the moment in `column`, as a place has it. */
export const microsOf = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint`;

/** SQL: the rows after a place, newest first and then by id. Its values (`placeValues`) are the parameter `$first` and the next one. */
export function followsPlace(
  first: number,
  { at = "created_at", id = "id", idType = "text" }: { at?: string; id?: string; idType?: "text" | "bigint" } = {},
): string {
  const micros = `$${first}::bigint`;
  return `(${at} <= coalesce(timestamptz 'epoch' + ${micros} * interval '1 microsecond', 'infinity')
    and (${microsOf(at)} is distinct from ${micros} or ${id} > $${first + 1}::${idType}))`;
}

/** The parameters of `followsPlace`; of the first page, which follows everything, without a place. */
export function placeValues(place: Place | undefined, idType: "text" | "bigint" = "text"): readonly unknown[] {
  return [place?.createdMicros ?? null, place?.id ?? (idType === "bigint" ? "0" : "")];
}

function readPlace(text: string, idShape: RegExp): Place {
  const decoded = Buffer.from(text, "base64url").toString();
  const [, createdMicros, id = ""] = /^(\d{1,16})\.(\w+)$/.exec(decoded) ?? [];
  if (createdMicros && idShape.test(id)) return { createdMicros: BigInt(createdMicros), id };
  throw new ApiError("bad_request", '"cursor" must be taken from an earlier page.', { body: { field: "cursor" } });
}
