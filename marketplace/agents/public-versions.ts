import type { Queryable } from "../../shared/postgres.ts";
import type { AgentId } from "../ids.ts";

/** A version that is or was live; what it costs is all that is told of it. */
export interface PublicVersion {
  readonly version: number;
  readonly priceCredits: bigint;
  readonly publishedAt: Date;
  readonly isLive: boolean;
}

/** The newest published versions of an agent. */
export async function publicVersions(db: Queryable, agentId: AgentId, liveVersion: number): Promise<PublicVersion[]> {
  const { rows } = await db.query<PublicVersion>({
    name: "list public versions",
    text: `
      select version, price_credits as "priceCredits", published_at as "publishedAt", version = $2 as "isLive"
      from agent_versions where agent_id = $1 and published_at is not null order by version desc limit ${shownMax}`,
    values: [agentId, liveVersion],
  });
  return rows;
}

const shownMax = 20;
