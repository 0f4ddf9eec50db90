import { connect, type Database } from "../../../shared/postgres.ts";
import type { World } from "../soak/world.ts";
import { type OpenMarket, tip } from "./market.ts";
import { isDelivered, type Purchase, type Shoppers } from "./shoppers.ts";

/** Everything that should not have happened to anybody's money; empty is as it must be. */
export async function problemsOf({ world, market, db, databaseUrl, shoppers }: Evidence): Promise<readonly string[]> {
  const { rows } = await db.query("select network, payment_key, state from payments");
  const states = new Map(rows.map((row) => [`${row.network} ${row.payment_key}`, row.state as string]));
  const [messages, received] = await Promise.all([messagesOn(world, market.topic), tipsReceived(world, shoppers)]);
  const problems: string[] = [];
  for (const purchase of shoppers.purchases) {
    const { agent, network, key, answers, strangers, good, literal } = purchase;
    const state = states.get(`${network} ${key}`) ?? "never seen";
    const last = answers.at(-1);
    const say = (what: string) =>
      problems.push(`${agent} ${key} (${state}${literal ? ", settled first" : ""}): ${what}; last ${describe(last)}`);
    if (state === "settled" && !isDelivered(purchase)) say("paid and never had");
    if (state !== "settled" && isDelivered(purchase)) say("had and not paid");
    const runs = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.run_id));
    if (runs.size > 1) say(`${runs.size} runs for one payment`);
    if (strangers.some(({ status }) => status === 200)) say("a stranger had it");
    for (const { status, body } of [...answers, ...strangers]) {
      const isAgents = status === 500 && body?.success === false;
      if (status >= 500 && status !== 503 && !isAgents) say(`an answer ${status} ${JSON.stringify(body)}`);
    }
    const { text } = JSON.parse(good);
    const effects =
      agent === "note" ? (messages.get(text) ?? 0) : agent === "tip" ? (received.get(text) ?? 0) / tip : undefined;
    if (effects !== undefined && effects !== (isDelivered(purchase) ? 1 : 0)) say(`${effects} effects`);
  }
  return [...problems, ...(await openRows(databaseUrl))];
}

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

async function openRows(databaseUrl: string): Promise<readonly string[]> {
  const db = connect(databaseUrl, { poolMax: 1, applicationName: "verdict" });
  try {
    const { rows } = await db.query(
      "select count(*)::int as open from effects where state = 'open' and created_at < now() - interval '3 minutes'",
    );
    return rows[0].open > 0 ? [`${rows[0].open} effects are still open`] : [];
  } finally {
    await db.end();
  }
}
