import type { ListedKey } from "../api-keys/list.ts";
import { type Arguments, type Options, UsageError } from "./arguments.ts";

/** UsageError where a key that is there is another than `key create` asks for, which names what differs. What is not asked is not compared. */
export function requireSameKey(key: ListedKey, args: Arguments): void {
  const is: ReadonlyArray<readonly [keyof Options, unknown, unknown]> = [
    ["rate-limit", args.optionalInteger("rate-limit"), key.rate_limit_per_minute],
    ["scope", args.optional("scope"), key.scope],
    ["agents", listed(args.optional("agents")?.split(",")), listed(key.agents)],
    ["max-credits-per-day", args.optionalInteger("max-credits-per-day"), numberOf(key.max_credits_per_day)],
    ["max-credits-per-month", args.optionalInteger("max-credits-per-month"), numberOf(key.max_credits_per_month)],
  ];
  const others = is.filter(([, asked, there]) => asked !== undefined && asked !== there);
  if (others.length === 0) return;
  const said = others.map(([name, , there]) => `--${name} is ${there ?? "not set"}`).join(", ");
  throw new UsageError(`a key "${key.name}" (${key.id}) is there, and is another one: ${said}`);
}

const numberOf = (cap: bigint | number | null) => (cap === null ? null : Number(cap));

/** In one order, as they are kept. */
const listed = (agents: readonly string[] | undefined) =>
  agents && [...new Set(agents.map((agent) => agent.trim().toLowerCase()))].toSorted().join();
