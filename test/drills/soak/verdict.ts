import { connect, type Database } from "../../../shared/postgres.ts";
import type { World } from "../../bench/soak/world.ts";
import { type OpenMarket, tip } from "./market.ts";
import { type Answered, isDelivered, type Purchase, type Shoppers } from "./shoppers.ts";

/** What should not happen to any buyer, in the order of the table. */
export const wrongs = [
  "paid and never had",
  "had and not paid",
  "redeemed by another",
  "several runs for one payment",
  "effects that are not exactly one",
  "effects left open",
  "answers that are no true 503",
] as const;

export interface Problem {
  readonly wrong: (typeof wrongs)[number];
  readonly what: string;
}

/** Everything that should not have happened to a buyer's money; empty is as it must be. */
export async function problemsOf({ world, market, db, databaseUrl, shoppers }: Evidence): Promise<readonly Problem[]> {
  const { rows } = await db.query("select network, payment_key, state from payments");
  const states = new Map(rows.map((row) => [`${row.network} ${row.payment_key}`, row.state as string]));
  const effects = await effectsOf(world, market, shoppers);
  const problems = shoppers.purchases.flatMap((purchase) =>
    problemsOfOne(purchase, states.get(`${purchase.network} ${purchase.key}`) ?? "never seen", effects(purchase)),
  );
  return [...problems, ...(await openRows(databaseUrl))];
}

/** `effects`: how often the chain shows what was bought; undefined where it shows nothing of it. */
function problemsOfOne(purchase: Purchase, state: string, effects: number | undefined): readonly Problem[] {
  const { agent, key, answers, strangers, literal } = purchase;
  const problems: Problem[] = [];
  const about = `${agent} ${key} (${state}${literal ? ", settled first" : ""})`;
  const say = (wrong: Problem["wrong"], what = "") =>
    problems.push({ wrong, what: `${about} ${what}; last ${describe(answers.at(-1))}` });
  const isHad = isDelivered(purchase);
  if (state === "settled" && !isHad) say("paid and never had");
  if (state !== "settled" && isHad) say("had and not paid");
  const runs = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.run_id));
  if (runs.size > 1) say("several runs for one payment", `${runs.size} runs`);
  if (strangers.some(({ status }) => status === 200)) say("redeemed by another");
  for (const answer of [...answers, ...strangers]) {
    if (answer.status >= 500 && !isTrue503(answer) && !isFailedRun(answer)) {
      say("answers that are no true 503", `${answer.status} ${JSON.stringify(answer.body)}`);
    }
  }
  if (effects !== undefined && effects !== (isHad ? 1 : 0)) say("effects that are not exactly one", `${effects}`);
  return problems;
}

const isTrue503 = ({ status, retryAfter }: Answered) => status === 503 && retryAfter;
/** The specification's answer to a run that failed on a network that is away: nothing was charged. */
export const isFailedRun = ({ status, body }: Answered) =>
  status === 500 && body?.success === false && body.charged === false;

interface Evidence {
  readonly world: World;
  readonly market: OpenMarket;
  /** The facilitator's. */
  readonly db: Database;
  readonly databaseUrl: string;
  readonly shoppers: Shoppers;
}

const describe = (answer: Purchase["answers"][number] | undefined) =>
  answer ? `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}` : "no answer";

/** Answers how often the chain shows what a purchase was for. */
async function effectsOf(world: World, { topic }: OpenMarket, shoppers: Shoppers) {
  const [messages, received] = await Promise.all([messagesOn(world, topic), tipsReceived(world, shoppers)]);
  return ({ agent, good }: Purchase): number | undefined => {
    const { text } = JSON.parse(good);
    if (agent === "note") return messages.get(text) ?? 0;
    return agent === "tip" ? (received.get(text) ?? 0) / tip : undefined;
  };
}

async function messagesOn({ ledger }: World, topic: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  let path: string | null = `/api/v1/topics/${topic}/messages?limit=100`;
  while (path) {
    const response: Response = await fetch(ledger.mirror + path);
    const page = (await response.json()) as MessagePage;
    for (const { message } of page.messages) {
      const text = Buffer.from(message, "base64").toString();
      found.set(text, (found.get(text) ?? 0) + 1);
    }
    path = page.links.next;
  }
  return found;
}

interface MessagePage {
  readonly messages: ReadonlyArray<{ readonly message: string }>;
  readonly links: { readonly next: string | null };
}

/** Tinybars by receiver: each was made with none. */
async function tipsReceived({ ledger }: World, { purchases }: Shoppers): Promise<ReadonlyMap<string, number>> {
  const received = new Map<string, number>();
  for (const { agent, good } of purchases) {
    if (agent !== "tip") continue;
    const { text } = JSON.parse(good);
    const response = await fetch(`${ledger.mirror}/api/v1/accounts/${text}`);
    const { balance } = (await response.json()) as { balance: { balance: number } };
    received.set(text, balance.balance);
  }
  return received;
}

async function openRows(databaseUrl: string): Promise<readonly Problem[]> {
  const db = connect(databaseUrl, { poolMax: 1, applicationName: "verdict" });
  try {
    const { rows } = await db.query(
      "select count(*)::int as open from effects where state = 'open' and created_at < now() - interval '3 minutes'",
    );
    return rows[0].open > 0 ? [{ wrong: "effects left open", what: `${rows[0].open} of them` }] : [];
  } finally {
    await db.end();
  }
}
