import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { isCaip2 } from "../../shared/networks.ts";
import { connectorIds } from "../connectors/connector.ts";
import { offsetQuery, searchText, wholeNumber } from "../query.ts";
import { categories, tagShape } from "./category.ts";
import { priceMax } from "./definition.ts";

export const sorts = ["relevance", "newest", "most_run", "cheapest"] as const;
export type Sort = (typeof sorts)[number];

const networksMax = 10;
/** Each that is skipped is walked over: of a million agents that takes a quarter of a second at most. A cursor goes further. */
const skippedMax = 100_000;

/** The query string of GET /api/v1/agents. An empty parameter is one that was not given. */
export const listQuery = z
  .object({
    q: searchText(200)
      .optional()
      .describe(
        "Words to find in name, description, tags or creator: whole, begun or inflected, in either spelling of English. " +
          "A word that no agent has is read as the nearest one; when no agent has them all, those with most of them are found.",
      ),
    creator: searchText(64).optional().describe("Only agents of this creator's handle, in any case."),
    connector: severalOf("connectors", connectorIds).meta({
      type: "string",
      description: `Only agents that run on one of these connectors, separated by commas: ${connectorIds.join(", ")}.`,
    }),
    category: z.enum(categories).optional().describe("Only agents that their creators put into this category."),
    tag: tagShape.optional().describe("Only agents that have this tag."),
    network: networks().meta({
      type: "string",
      description: "Only agents that can be paid per call on one of these networks (CAIP-2), separated by commas.",
    }),
    min_price: wholeNumber(0, priceMax)
      .optional()
      .describe("Only agents of which one run costs at least so many credits."),
    max_price: wholeNumber(0, priceMax)
      .optional()
      .describe("Only agents of which one run costs at most so many credits."),
    free: onlyWhen().meta({ type: "boolean", description: "`true`: only agents whose runs cost nothing." }),
    per_call: onlyWhen().meta({
      type: "boolean",
      description: "`true`: only agents that can be called without an account.",
    }),
    sort: z
      .enum(sorts)
      .optional()
      .describe("`relevance` goes with `q` and is its default; otherwise the default is `newest`."),
    ...offsetQuery("Agents", skippedMax),
    cursor: z
      .string()
      .max(200)
      .optional()
      .describe("`cursor` of the page before, with the other parameters unchanged. Takes the place of `offset`."),
  })
  .superRefine(({ min_price, max_price }, issues) => {
    if (min_price === undefined || max_price === undefined || min_price <= max_price) return;
    issues.addIssue({ code: "custom", path: ["max_price"], message: "is below min_price" });
  });

export type ListQuery = z.infer<typeof listQuery>;

/** `relevance` needs words to be relevant to. */
export function sortOf({ q, sort }: Pick<ListQuery, "q" | "sort">): Sort {
  const hasWords = Boolean(q?.trim());
  if (sort === undefined || sort === "relevance") return hasWords ? "relevance" : "newest";
  return sort;
}

/** Where a page ends: how many rows were before it, or the last row's place in the order. */
export type Place =
  | { readonly skipped: number }
  | { readonly key: string; readonly createdMicros: string; readonly id: string };

export function writeCursor(sort: Sort, place: Place): string {
  const parts = "skipped" in place ? [place.skipped] : [place.key, place.createdMicros, place.id];
  return Buffer.from([sort, ...parts].join(" ")).toString("base64url");
}

/** Where the page begins, and in which order; 400 for what is no cursor, or one of a list in another order. */
export function readCursor(text: string, allowed: readonly Sort[]): { readonly sort: Sort; readonly place: Place } {
  const [sorted, first = "", createdMicros = "", id = ""] = Buffer.from(text, "base64url").toString().split(" ");
  const sort = allowed.find((one) => one === sorted);
  if (sort === "relevance" && /^\d{1,7}$/.test(first)) return { sort, place: { skipped: Number(first) } };
  if (sort && /^\d{1,15}$/.test(first) && /^\d{1,16}$/.test(createdMicros) && /^agt_\w{1,40}$/.test(id)) {
    return { sort, place: { key: first, createdMicros, id } };
  }
  throw new ApiError("bad_request", '"cursor" must be taken from an earlier page of the same list.', {
    body: { field: "cursor" },
  });
}

/** Words of a closed list, separated by commas. */
function severalOf<T extends string>(what: string, allowed: readonly T[]) {
  return z
    .string()
    .max(500)
    .transform((text, context): T[] => {
      const given = [...new Set(text.split(",").filter((word) => word !== ""))] as T[];
      if (given.every((word) => allowed.includes(word))) return given;
      context.addIssue({ code: "custom", message: `must be ${what} of ${allowed.join(", ")}` });
      return z.NEVER;
    })
    .optional();
}

function networks() {
  return z
    .string()
    .max(500)
    .transform((text, context): string[] => {
      const given = [...new Set(text.split(",").filter((id) => id !== ""))];
      if (given.length <= networksMax && given.every(isCaip2)) return given;
      context.addIssue({ code: "custom", message: `must be at most ${networksMax} networks such as eip155:8453` });
      return z.NEVER;
    })
    .optional();
}

function onlyWhen() {
  return z
    .enum(["true", "false"])
    .transform((word) => word === "true")
    .optional();
}
