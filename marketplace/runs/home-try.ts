import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import { findLiveAgent } from "../agents/find.ts";
import type { AccountId } from "../ids.ts";
import { claimTryOfSite, returnTryOfSite } from "../tries-of-site.ts";
import type { RunResult } from "./asked-run.ts";
import type { HomeTryConfig } from "./home-try-config.ts";
import { prepareAgent } from "./prepare.ts";
import { type RunNeeds, runAgent } from "./run.ts";

export interface HomeTryNeeds extends RunNeeds {
  readonly config: RunNeeds["config"] & { readonly homeTry: HomeTryConfig | undefined };
}

/**
 * Runs the first page's agent for a visitor; the operator's account is charged as any buyer is. `from` is the visitor's
 * network address. Throws ApiError: 404 there is no such agent, 400 and 422 as `prepareRun` says, 429 the visitor's or
 * the day's tries are used up. None of them counts as a try, nor does a run that fails.
 */
export async function runHomeTry(
  needs: HomeTryNeeds,
  from: string,
  input: Readonly<Record<string, unknown>>,
): Promise<RunResult> {
  const { db, config } = needs;
  const { homeTry } = config;
  if (!homeTry) throw new ApiError("not_found", "There is nothing to try here.");
  const client = clientOf(from);
  await admitOrRefuse(db, `home-try:${client}`, attemptsPerMinute, "Too many tries from here within a minute.");
  const { runnable } = prepareAgent(await findLiveAgent(needs, homeTry.agent), input);
  // Runs that move something on a chain, or reward a person, are not given away.
  if (runnable.precheck) throw new ApiError("unavailable", "This agent cannot be tried for nothing.");
  const accountId = await openAccountOf(db, homeTry.payer);
  const price = Number(runnable.priceCredits);
  const day = await claim(db, client, price, homeTry);
  const giveBack = async () => {
    await db.query(returnTry, [client, day, price]);
    await returnTryOfSite(db, "home_tries", client, day);
  };
  try {
    const asked = { agent: homeTry.agent, input, maxCredits: price };
    const { result } = await runAgent(needs, { accountId, visitor: from }, asked);
    if (!result.success) await giveBack();
    return result;
  } catch (error) {
    // A refusal charged nothing. Of anything else it is not known, so it stays counted.
    if (!(error instanceof ApiError)) throw error;
    await giveBack();
    throw error.code === "payment_required" ? usedUp(error) : error;
  }
}

/** Refused inputs cost no try, so they have a limit of their own. */
const attemptsPerMinute = 10;

async function openAccountOf(db: Queryable, handle: string): Promise<AccountId> {
  const { rows } = await db.query("select id from accounts where handle = $1 and state = 'open'", [handle]);
  if (!rows[0])
    throw new ApiError("unavailable", "Nothing can be tried right now.", { cause: `no account "${handle}"` });
  return rows[0].id;
}

/** The day that was counted on. */
async function claim(
  db: Queryable,
  client: string,
  price: number,
  { triesPerAddress, creditsPerDay }: HomeTryConfig,
): Promise<string> {
  const { rows } = await db.query<{ admitted: boolean; day: string }>(
    "select claim_home_try($1, $2, $3, $4) as admitted, (now() at time zone 'utc')::date::text as day",
    [client, price, triesPerAddress, creditsPerDay],
  );
  const { admitted, day } = rows[0]!;
  if (!admitted) throw usedUp();
  if (await claimTryOfSite(db, "home_tries", client, triesPerAddress)) return day;
  await db.query(returnTry, [client, day, price]);
  throw usedUp();
}

const returnTry = "select return_home_try($1, $2::date, $3)";

function usedUp(cause?: unknown): ApiError {
  const daySeconds = 86_400;
  const wait = Math.max(1, Math.ceil(daySeconds - ((Date.now() / 1_000) % daySeconds)));
  const message = "Today's free tries are used up. The agent's own page takes credits and wallets.";
  return new ApiError("rate_limited", message, { headers: { "retry-after": String(wait) }, cause });
}
