import { entityText, nanosPerSecond, parseEntityText } from "../hapi/ids.ts";
import type { Account } from "../state/entities.ts";
import { invalidParameter } from "./json.ts";
import type { MirrorView } from "./view.ts";

/** `limit`: 1 to 100, 25 when absent. */
export function limitOf(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return limitDefault;
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1) invalidParameter("limit");
  return Math.min(limit, limitMax);
}

export function orderOf(query: URLSearchParams, otherwise: Order): Order {
  const order = query.get("order") ?? otherwise;
  return order === "asc" || order === "desc" ? order : invalidParameter("order");
}

/** A filter such as `gt:5` or `0.0.5`, possibly given several times, as a test on an entity or sequence number. */
export function numberFilter(query: URLSearchParams, name: string): (number: number) => boolean {
  const tests = query.getAll(name).map((text) => {
    const [, operator = "eq", value = ""] = /^(?:(eq|ne|gt|gte|lt|lte):)?(.+)$/.exec(text) ?? [];
    const limit = value === "0" ? 0 : (parseEntityText(value) ?? invalidParameter(name));
    return (number: number) => comparisons[operator as Operator](number, limit);
  });
  return (number) => tests.every((test) => test(number));
}

/** A filter on moments such as `gt:seconds.nanos`, possibly given several times, as a test. */
export function timestampFilter(query: URLSearchParams, name = "timestamp"): (nanos: bigint) => boolean {
  const tests = query.getAll(name).map((text) => {
    const [, operator = "eq", seconds = "", nanos = ""] =
      /^(?:(eq|ne|gt|gte|lt|lte):)?(\d{1,10})(?:\.(\d{1,9}))?$/.exec(text) ?? invalidParameter(name);
    const limit = BigInt(seconds) * nanosPerSecond + BigInt(nanos.padEnd(9, "0"));
    return (moment: bigint) => comparisons[operator as Operator](moment, limit);
  });
  return (nanos) => tests.every((test) => test(nanos));
}

/** What `pick` makes of the accounts that pass `account.id`, in ascending order, and the link to the rest. */
export function pageOfAccounts(
  view: MirrorView,
  query: URLSearchParams,
  path: string,
  pick: (account: Account) => object | undefined,
): { page: object[]; next: string | null } {
  const limit = limitOf(query);
  const wanted = numberFilter(query, "account.id");
  const exact = parseEntityText(query.get("account.id")?.replace(/^eq:/, "") ?? "");
  const numbers = exact === undefined ? [...view.chain.state.accounts.keys()].sort((a, b) => a - b) : [exact];
  const page: object[] = [];
  let last = 0;
  for (const number of numbers) {
    const account = wanted(number) ? view.account(number) : undefined;
    const picked = account && pick(account);
    if (!picked) continue;
    if (page.length === limit) return { page, next: `${path}?limit=${limit}&account.id=gt:${entityText(last)}` };
    page.push(picked);
    last = number;
  }
  return { page, next: null };
}

const comparisons = {
  eq: (a: Ordered, b: Ordered) => a === b,
  ne: (a: Ordered, b: Ordered) => a !== b,
  gt: (a: Ordered, b: Ordered) => a > b,
  gte: (a: Ordered, b: Ordered) => a >= b,
  lt: (a: Ordered, b: Ordered) => a < b,
  lte: (a: Ordered, b: Ordered) => a <= b,
};

const limitDefault = 25;
const limitMax = 100;

type Ordered = number | bigint;
type Operator = keyof typeof comparisons;
export type Order = "asc" | "desc";
