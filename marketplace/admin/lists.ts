import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { isAtAddress } from "../at-address.ts";
import { readBalances } from "../credits/balance.ts";
import type { AccountId } from "../ids.ts";
import { followsPlace, microsOf, type Place, pageOf, pageQuery, placeValues, searchText } from "../query.ts";

const states = ["open", "suspended", "closed"] as const;

export const accountsQuery = z.object({
  ...pageQuery(/^acc_\w{1,40}$/),
  q: searchText(30).optional().describe("The handle begins so."),
  state: z.enum(states).optional(),
});

/** Accounts, newest first; with `handle` the one that is called so. */
export async function listAccounts(
  db: Queryable,
  asked: z.infer<typeof accountsQuery>,
  handle?: string,
): Promise<AccountsPage> {
  const { rows } = await db.query<AccountRow>(
    `select id, ${micros}, handle, state, created_at as "createdAt",
       (select count(*)::integer from agents where account_id = a.id) as agents,
       exists (select from operators o where o.account_id = a.id) as "isOperator"
     from accounts a
     where ${followsPlace(1)} and ($4::text is null or starts_with(lower(handle), lower($4))) and ($5::text is null or state = $5)
       and ($6::text is null or id = (select account_id from handles h where h.handle = lower($6)))
     order by created_at desc, id limit $3`,
    [
      ...placeValues(asked.cursor),
      asked.limit + 1,
      asked.q ?? null,
      asked.state ?? null,
      handle?.replaceAll("\0", "") ?? null,
    ],
  );
  const { page, cursor } = pageOf(rows, asked.limit);
  const balances = await readBalances(
    db,
    page.map(({ id }) => id),
  );
  return {
    accounts: page.map(({ id, handle, state, createdAt, agents, isOperator }, index) => ({
      id,
      handle,
      state,
      created_at: createdAt.toISOString(),
      agents,
      is_operator: isOperator,
      credits: toSafeNumber(balances[index]!.credits),
      held_credits: toSafeNumber(balances[index]!.held),
      earned_credits: toSafeNumber(balances[index]!.earned),
    })),
    cursor,
  };
}

const agentStates = ["draft", "live", "unpublished", "suspended"] as const;

export const agentsQuery = z.object({
  ...pageQuery(/^agt_\w{1,40}$/),
  q: searchText(80).optional().describe("The address, handle/slug, begins so."),
  state: z.enum(agentStates).optional(),
});

/** Agents in any state, newest first, with what is open against them; with `address` the one that is there. */
export async function listAllAgents(
  db: Queryable,
  asked: z.infer<typeof agentsQuery>,
  address?: string,
): Promise<AgentsPage> {
  const { rows } = await db.query<AgentRow>(
    `select id, ${micros}, handle || '/' || slug as agent, state, live_version, created_at as "createdAt",
       (select count(*)::integer from reports r where r.agent_id = a.id and r.resolved_at is null) as reports
     from agents a
     where ${followsPlace(1)} and ($4::text is null or starts_with(lower(handle || '/' || slug), lower($4))) and ($5::text is null or state = $5)
       and ($6::text is null or ${isAtAddress("a", "$6")})
     order by created_at desc, id limit $3`,
    [
      ...placeValues(asked.cursor),
      asked.limit + 1,
      asked.q ?? null,
      asked.state ?? null,
      address?.replaceAll("\0", "") ?? null,
    ],
  );
  const { page, cursor } = pageOf(rows, asked.limit);
  return {
    agents: page.map(({ id, agent, state, live_version, createdAt, reports }) => ({
      id,
      agent,
      state,
      live_version,
      created_at: createdAt.toISOString(),
      open_reports: reports,
    })),
    cursor,
  };
}

const micros = `${microsOf("created_at")} as "createdMicros"`;

export interface ListedAccount {
  readonly id: AccountId;
  readonly handle: string;
  readonly state: (typeof states)[number];
  readonly created_at: string;
  readonly agents: number;
  readonly is_operator: boolean;
  readonly credits: number;
  readonly held_credits: number;
  readonly earned_credits: number;
}

export interface AccountsPage {
  readonly accounts: readonly ListedAccount[];
  readonly cursor: string | null;
}

export interface ListedAgent {
  readonly id: string;
  readonly agent: string;
  readonly state: (typeof agentStates)[number];
  readonly live_version: number | null;
  readonly created_at: string;
  readonly open_reports: number;
}

export interface AgentsPage {
  readonly agents: readonly ListedAgent[];
  readonly cursor: string | null;
}

interface AccountRow extends Place {
  readonly id: AccountId;
  readonly handle: string;
  readonly state: ListedAccount["state"];
  readonly createdAt: Date;
  readonly agents: number;
  readonly isOperator: boolean;
}

interface AgentRow extends Place {
  readonly agent: string;
  readonly state: ListedAgent["state"];
  readonly live_version: number | null;
  readonly createdAt: Date;
  readonly reports: number;
}
