import type { Queryable } from "../../shared/postgres.ts";
import type { AgentId } from "../ids.ts";

/** What a creator is told about an agent: in words, and never the value it is about. */
const texts = {
  secret_in_answer:
    "The service behind this agent answered with one of the agent's secrets. The answer was withheld, stored nowhere and not " +
    "charged. Make the service keep what it is sent to itself, and replace the secret.",
} as const;

export type NoticeKind = keyof typeof texts;

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
  /** Of the agent, when it happened last. */
  readonly version: number;
  readonly times: number;
  readonly first_at: Date;
  readonly last_at: Date;
}
