import { z } from "zod";
import { formatUnits } from "../shared/amounts.ts";
import { countingOf, countingShape } from "../shared/counting.ts";
import { type DurabilityWatch, durabilityShape } from "../shared/durability.ts";
import { leavingShape } from "../shared/leaving.ts";
import type { Database } from "../shared/postgres.ts";
import { type Reads, readsShape } from "../shared/reads.ts";
import type { ValkeyCounts } from "../shared/valkey-counts.ts";
import { within } from "../shared/within.ts";
import type { Config } from "./config.ts";
import { ReadCache } from "./schemes/read-cache.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";
import type { LostSettlements } from "./settlements/lost-settlements.ts";
import { environmentOfAll } from "./settlements/scope.ts";

export const livezShape = z.object({ status: z.literal("ok") }).meta({ id: "Liveness" });

export const readyzShape = z
  .object({
    ready: z.boolean(),
    database: z.boolean(),
    networks: z.record(z.string(), z.boolean()),
    leaving: leavingShape,
  })
  .meta({ id: "Readiness" });

export const healthShape = z
  .object({
    status: z.enum(["ok", "degraded"]),
    env: z.enum(["mainnet", "testnet"]),
    chains: z.array(
      z.object({
        network: z.string(),
        feePayer: z.string(),
        balance: z.number().nullable().describe("Whole units; null while it cannot be read."),
        unit: z.string(),
        lowBalance: z.boolean(),
        empty: z.boolean().describe("This fee payer pays for nothing any more."),
        signing: z.boolean().describe("Its key can be asked to sign."),
        leased: z.boolean().describe("The copy that answers looks after it; of all copies one does."),
        settling: z
          .boolean()
          .describe(
            "Of the network: false while it is away, none of its fee payers can pay or its fees are too high; then nothing settles there.",
          ),
        feesTooHigh: z
          .boolean()
          .describe("Of the network: it charges more for a transaction than a fee payer may pay, until it costs less."),
      }),
    ),
    durability: durabilityShape,
    foundAgain: z
      .array(z.object({ network: z.string(), payments: z.int(), lastAt: z.iso.datetime().nullable() }))
      .nullable()
      .describe(
        "Settlements that the database had lost, as by a failover, and that were found again on their chains; null until it was asked.",
      ),
    counting: countingShape,
    reads: readsShape,
    time: z.iso.datetime(),
  })
  .meta({ id: "Health" });

/** GET /health: 200 when every fee payer can pay and the database answers, 503 otherwise. Balances are as last read. */
export async function health(needs: HealthNeeds): Promise<Health> {
  const { schemes, config, durability, valkey, reads, lostSettlements } = needs;
  const database = await needs.isDatabaseThere();
  const chains = schemes.all.flatMap((scheme) =>
    scheme.balances().map((payer) => ({
      network: scheme.network,
      feePayer: payer.feePayer,
      balance: payer.balance === undefined ? null : Number(formatUnits(payer.balance, payer.decimals)),
      unit: payer.unit,
      lowBalance: payer.low,
      empty: payer.empty,
      signing: payer.signs,
      leased: payer.leased,
      settling: schemes.isSettling(scheme),
      feesTooHigh: scheme.feesTooHigh(),
    })),
  );
  const env = environmentOfAll(schemes.all.map(({ network }) => config.environmentOf(network)));
  const canPay = ({ balance, lowBalance, empty, feesTooHigh }: (typeof chains)[number]) =>
    balance !== null && !lowBalance && !empty && !feesTooHigh;
  const healthy = database && chains.every(canPay);
  return {
    healthy,
    body: {
      status: healthy ? "ok" : "degraded",
      env,
      chains,
      durability: durability.now,
      foundAgain:
        lostSettlements.foundAgain?.map((found) => ({ ...found, lastAt: found.lastAt?.toISOString() ?? null })) ?? null,
      counting: countingOf(valkey),
      reads: reads.now,
      time: new Date().toISOString(),
    },
  };
}

export interface HealthNeeds {
  readonly schemes: SchemeRegistry;
  /** As of the last second. */
  readonly isDatabaseThere: () => Promise<boolean>;
  readonly config: Pick<Config, "environmentOf">;
  readonly durability: DurabilityWatch;
  readonly valkey: ValkeyCounts | undefined;
  readonly reads: Reads;
  readonly lostSettlements: LostSettlements;
}

/**
 * GET /readyz: whether to send work here: the database answers, this copy can ask at least one network and sign there, and it is
 * not about to stop. A network in trouble lowers /health and leaves the others to be served. Fee payers without money and fees
 * that are too high are so for every copy: were none ready, nobody could be told what became of payments.
 */
export async function readiness({ schemes, isDatabaseThere }: ReadinessNeeds, leaving: boolean): Promise<Readiness> {
  const database = await isDatabaseThere();
  const networks = Object.fromEntries(schemes.all.map((scheme) => [scheme.network, schemes.isSettling(scheme)]));
  const isAnyThere = schemes.all.some((scheme) => schemes.whyNotSettling(scheme) !== "away");
  return { ready: database && !leaving && isAnyThere, database, networks, leaving };
}

type ReadinessNeeds = Pick<HealthNeeds, "schemes" | "isDatabaseThere">;

interface Readiness {
  readonly ready: boolean;
  readonly database: boolean;
  /** By network, whether it can settle now. */
  readonly networks: Readonly<Record<string, boolean>>;
  readonly leaving: boolean;
}

interface Health {
  readonly healthy: boolean;
  readonly body: object;
}

/** Whether the database answers within two seconds, as asked within the last second: whoever likes may ask how this service is. */
export function databaseProbe(db: Database): () => Promise<boolean> {
  const reads = new ReadCache(1);
  return () => reads.read("database", probeKeptMs, () => answers(db));
}

const probeKeptMs = 1_000;

function answers(db: Database): Promise<boolean> {
  return within(2_000, db.query("select 1")).then(
    () => true,
    () => false,
  );
}
