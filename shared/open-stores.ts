import type { Secret } from "./env.ts";
import type { Log } from "./log.ts";
import { type Migration, prepareSchema } from "./migrate.ts";
import { connect, type Database, type PoolOptions } from "./postgres.ts";
import type { Disposer } from "./process.ts";
import { openReads, type Reads } from "./reads.ts";
import { Tracing } from "./tracing.ts";
import type { ValkeyConfig } from "./valkey.ts";
import type { ValkeyCounts } from "./valkey-counts.ts";

/** What both services stand on: the database, migrated where the configuration says so, its replica, shared counts, and where spans go. */
export async function openStores(
  name: "marketplace" | "facilitator",
  config: StoresConfig,
  { url, migrations, log }: { readonly url: string; readonly migrations: readonly Migration[]; readonly log: Log },
  disposer: Disposer,
): Promise<Stores> {
  const tracing = await Tracing.start(name, config.tracesTo);
  disposer.add(() => tracing?.stop());
  await prepareSchema(name, { url, migrations, migrates: config.migrates });
  const { databasePoolMax: poolMax, databaseReadsMax: readsMax } = config;
  const pool = { poolMax, statements: config.databaseStatements, applicationName: name };
  const db = connect(url, { ...pool, poolMax: Math.max(poolMin, poolMax - (readsMax ?? 0)) });
  disposer.add(() => db.end());
  const forReads = readsMax === undefined ? db : connect(url, { ...pool, poolMax: readsMax });
  if (forReads !== db) disposer.add(() => forReads.end());
  const reads = openReads(forReads, db, { url: config.databaseReadUrl, log, ...pool }, disposer);
  const valkey = config.valkey && (await countIn(config.valkey, { name, log }, disposer));
  return { tracing, db, reads, valkey };
}

/** A transaction and a statement beside it. */
const poolMin = 2;

/** Its client is loaded only where one is named: most starts need none. */
async function countIn(...given: Parameters<typeof import("./valkey-counts.ts").startValkeyCounts>) {
  const { startValkeyCounts } = await import("./valkey-counts.ts");
  return startValkeyCounts(...given);
}

interface Stores {
  readonly tracing: Tracing | undefined;
  readonly db: Database;
  readonly reads: Reads;
  readonly valkey: ValkeyCounts | undefined;
}

interface StoresConfig {
  readonly migrates: boolean;
  readonly databaseReadUrl: Secret | undefined;
  readonly databaseStatements: NonNullable<PoolOptions["statements"]>;
  readonly databasePoolMax: number;
  /** So many of these connections are for what is only read, and no others: slow reads take none from the rest. Undefined: any. */
  readonly databaseReadsMax?: number;
  readonly valkey: ValkeyConfig | undefined;
  readonly tracesTo: string | undefined;
}
