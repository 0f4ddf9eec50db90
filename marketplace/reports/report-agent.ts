import { z } from "zod";
import { clientOf, siteOf, siteShares } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { type FindNeeds, findShownAgent } from "../agents/find.ts";
import { type AgentId, newId, type RunId } from "../ids.ts";
import { parse } from "../parse.ts";
import { findShared } from "../runs/share-run.ts";

/** What can be wrong with an agent, in the visitor's words. */
export const reportReasons = {
  harmful: "It is harmful or illegal",
  deceptive: "It does not do what it says",
  stolen: "It uses what belongs to others",
  private: "It shows private data",
  malicious: "It steals secrets or money",
  other: "Something else",
} as const;

export type ReportReason = keyof typeof reportReasons;

export const reportTextMax = 2_000;

const reportShape = z.object({
  reason: z.enum(Object.keys(reportReasons) as [ReportReason, ...ReportReason[]]),
  text: storable(z.string().trim().min(1, "must say what is wrong").max(reportTextMax)),
  email: z
    .union([z.literal(""), storable(z.email("must be an e-mail address").max(254))])
    .optional()
    .transform((email) => email || undefined),
});

/**
 * Keeps the report of a visitor at `address` on the live agent `handle/slug`, for the operator. 404 for an agent that is not live,
 * 422 for a report that cannot be read, 429 past a day's limit: of the address, of the agent, of all.
 */
export async function reportAgent(needs: ReportNeeds, agentAddress: string, visitor: Visitor): Promise<{ id: string }> {
  const { id, liveVersion: version } = await findShownAgent(needs, agentAddress);
  return keepReport(needs.db, { agentId: id, version }, visitor);
}

/** Keeps a report on a run that its account shares: its output may be wrong though its agent is not. 404 when it is not shared. */
export async function reportSharedRun(db: Database, token: string, visitor: Visitor): Promise<{ id: string }> {
  const { agentId, agentVersion: version, id: runId } = await findShared(db, token);
  return keepReport(db, { agentId, version, runId }, visitor);
}

interface Reported {
  readonly agentId: AgentId;
  readonly version: number;
  readonly runId?: RunId;
}

async function keepReport(
  db: Database,
  { agentId, version, runId }: Reported,
  visitor: Visitor,
): Promise<{ id: string }> {
  const { reason, text, email } = parse(reportShape, visitor.said, "invalid_value");
  const id = newId("rpt");
  await inTransaction(db, async (tx) => {
    // In one order on every copy, so that none waits for another that waits for it; what is refused counts nothing.
    const from = `from:${clientOf(visitor.address)}`;
    const site = siteOf(from);
    await countReport(tx, from, perAddressDay, "You have sent several reports today.");
    if (site !== undefined)
      await countReport(tx, site, siteShares * perAddressDay, "Many reports came from near you today.");
    await countReport(tx, `on:${agentId}`, perAgentDay, "This agent has been reported often today.");
    await countReport(tx, "*", perDay, "Too many reports came in today.");
    await tx.query(
      "insert into reports (id, agent_id, version, reason, text, email, run_id) values ($1, $2, $3, $4, $5, $6, $7)",
      [id, agentId, version, reason, text, email ?? null, runId ?? null],
    );
  });
  return { id };
}

export type ReportNeeds = FindNeeds & { readonly db: Database };

export interface Visitor {
  /** The network address that the report came from. */
  readonly address: string;
  /** The form's fields, unchecked. */
  readonly said: unknown;
}

async function countReport(tx: Transaction, subject: string, most: number, tooMany: string): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into report_days as days (subject, day, reports) values ($1, (now() at time zone 'utc')::date, 1)
     on conflict (subject, day) do update set reports = days.reports + 1 where days.reports < $2`,
    [subject, most],
  );
  if (rowCount === 1) return;
  const secondsLeft = Math.ceil(86_400 - ((Date.now() / 1_000) % 86_400));
  const headers = { "retry-after": String(Math.max(1, secondsLeft)) };
  throw new ApiError(
    "rate_limited",
    `${tooMany} The operator reads them; nothing more is taken until tomorrow (UTC).`,
    {
      headers,
    },
  );
}

/** PostgreSQL keeps no NUL. */
function storable<S extends z.ZodType<string>>(shape: S) {
  return shape.refine((text) => !text.includes("\0"), "must not contain NUL");
}

const perAddressDay = 10;
const perAgentDay = 50;
const perDay = 2_000;
