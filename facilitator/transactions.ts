import { z } from "zod";
import type { Context } from "./context.ts";
import { type Explorers, explorerUrl } from "./explorer.ts";
import { encodeOpaque, oneOf, opaque, type Read, text, whole } from "./query.ts";
import { environments, recordScope, statuses } from "./settlements/scope.ts";

export const transactionsQuery = {
  env: oneOf(environments, "Which networks to list; by default mainnet if this daemon serves one."),
  network: text(100, "CAIP-2 id of one network, instead of all of the environment."),
  status: oneOf(statuses, "Only records of this status."),
  limit: whole({ min: 1, max: 100, fallback: 25, description: "Records a page." }),
  cursor: opaque(readPlace, "`cursor` of the page before."),
};

export const transactionsShape = z
  .object({
    env: z.enum(environments),
    transactions: z.array(
      z
        .object({
          network: z.string(),
          status: z.enum(statuses),
          kind: z.enum(["verify", "settle"]).describe("What was asked for."),
          payer: z.string().nullable(),
          pay_to: z.string().nullable(),
          asset: z.string().nullable(),
          amount_atomic: z.string().nullable().describe("Whole base units of the asset."),
          resource_url: z.string().nullable().describe("Without query and user name, where secrets live."),
          tx_id: z.string().nullable(),
          error_reason: z.string().nullable(),
          total_ms: z.int(),
          created_at: z.iso.datetime(),
          explorer: z
            .string()
            .nullable()
            .describe("Where people look it up; null on a network without a public explorer."),
        })
        .meta({ id: "TransactionRecord" }),
    ),
    cursor: z.string().nullable().describe("Where the next page begins; null on the last."),
  })
  .meta({ id: "Transactions" });
type Transactions = z.infer<typeof transactionsShape>;

/**
 * GET /transactions: the public record, newest first. A page begins after the last record of the page before, by
 * (created_at, id), so nothing is seen twice or missed however many share a moment or are added meanwhile.
 */
export async function transactions(
  context: Pick<Context, "db" | "schemes"> & { readonly config: Explorers & Pick<Context["config"], "environmentOf"> },
  query: Read<typeof transactionsQuery>,
): Promise<Transactions> {
  const { status, limit, cursor } = query;
  const scope = await recordScope(context.db, context, query);
  const { rows } = await context.db.query({
    name: "list-transactions",
    text: `
      select page.* from unnest($1::text[]) as asked_network (network)
        cross join unnest($2::text[]) as asked_status (status)
        cross join lateral (
          select t.*, (extract(epoch from t.created_at) * 1000000)::bigint as created_micros
            from transactions t
           where t.network = asked_network.network and t.status = asked_status.status
             and (t.created_at, t.id) < (coalesce(timestamptz 'epoch' + $3::bigint * interval '1 microsecond', 'infinity'), $4::bigint)
           order by t.created_at desc, t.id desc
           limit $5) as page
       order by page.created_at desc, page.id desc
       limit $5`,
    values: [
      scope.networks,
      status === undefined ? statuses : [status],
      cursor?.createdMicros ?? null,
      cursor?.id ?? 0n,
      limit + 1,
    ],
  });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    env: scope.env,
    transactions: page.map((row) => ({
      network: row.network,
      status: row.status,
      kind: row.kind,
      payer: row.payer,
      pay_to: row.pay_to,
      asset: row.asset,
      amount_atomic: row.amount_atomic?.toString() ?? null,
      resource_url: row.resource_url,
      tx_id: row.tx_id,
      error_reason: row.error_reason,
      total_ms: row.total_ms,
      created_at: row.created_at.toISOString(),
      explorer: explorerUrl(context.config, row.network, row.tx_id),
    })),
    cursor: rows.length > limit ? encodeOpaque(`${last.created_micros}.${last.id}`) : null,
  };
}

/** Microseconds, as PostgreSQL keeps them: a JavaScript date would blur neighbours into one. */
function readPlace(decoded: string): { createdMicros: bigint; id: bigint } | undefined {
  const [, createdMicros, id] = /^(\d{1,16})\.(\d{1,18})$/.exec(decoded) ?? [];
  return createdMicros && id ? { createdMicros: BigInt(createdMicros), id: BigInt(id) } : undefined;
}
