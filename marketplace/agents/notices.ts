import type { Queryable } from "../../shared/postgres.ts";
import type { AgentId } from "../ids.ts";

/** What a creator is told about an agent: in words, and never the value it is about. */
const texts = {
  secret_in_answer:
    "The service behind this agent answered with one of the agent's secrets. The answer was withheld, stored nowhere and not " +
    "charged. Make the service keep what it is sent to itself, and replace the secret.",
  model_budget_spent:
    "The agent's models have cost what is allowed them a day, so it stopped answering until the next day (UTC). You may " +
    "allow more.",
  model_balance_spent:
    "Your balance did not pay for the agent's model, so it stopped answering until there were spendable credits.",
  model_not_offered: "The agent's model is not offered any more. Publish the agent anew with another.",
  model_dearer_than_price:
    "The agent's model costs more by now than a run of the agent. Publish the agent anew at a higher price.",
} as const;

export const noticeKinds = Object.keys(texts) as [NoticeKind, ...NoticeKind[]];

export type NoticeKind = keyof typeof texts;

export const textOf = (kind: NoticeKind): string => texts[kind];

/** Tells the agent's creator; what is told again is counted. */
export async function noteFor(db: Queryable, agentId: AgentId, version: number, kind: NoticeKind): Promise<void> {
  await db.query(
    `insert into agent_notices (agent_id, kind, version) values ($1, $2, $3)
     on conflict (agent_id, kind) do update set version = excluded.version, times = agent_notices.times + 1, last_at = now()`,
    [agentId, kind, version],
  );
}

/** What there is to tell about an agent, the latest first. */
export async function noticesOf(db: Queryable, agentId: AgentId): Promise<Notice[]> {
  const { rows } = await db.query<Omit<Notice, "text">>(
    `select kind, version, times, first_at, last_at from agent_notices where agent_id = $1 order by last_at desc`,
    [agentId],
  );
  return rows.map((notice) => ({ ...notice, text: texts[notice.kind] }));
}

export interface Notice {
  readonly kind: NoticeKind;
  readonly text: string;
  /** The agent's version when it happened last. */
  readonly version: number;
  readonly times: number;
  readonly first_at: Date;
  readonly last_at: Date;
}
