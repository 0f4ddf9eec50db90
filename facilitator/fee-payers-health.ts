import { formatUnits } from "../shared/amounts.ts";
import type { Environment } from "../shared/networks.ts";
import type { Database } from "../shared/postgres.ts";
import type { Config } from "./config.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";

export interface FeePayerHealth {
  readonly network: string;
  readonly feePayer: string;
  readonly unit: string;
  /** Whole units in decimal; undefined while it cannot be read. */
  readonly balance: string | undefined;
  /** Whole units, by the mean of the past seven days; undefined while nothing is known. */
  readonly spentPerDay: string | undefined;
  /** For how many days the balance lasts at that rate; undefined where nothing was spent or is known. */
  readonly runwayDays: number | undefined;
  readonly low: boolean;
  readonly empty: boolean;
  /** Whether payments are settled on its network now. */
  readonly settling: boolean;
  /** The network charges more for a transaction than a fee payer may pay. */
  readonly feesTooHigh: boolean;
}

/** Each fee payer with what it holds and how long that lasts. */
export async function feePayersHealth(
  {
    db,
    schemes,
    config,
  }: { readonly db: Database; readonly schemes: SchemeRegistry; readonly config: Pick<Config, "environmentOf"> },
  env: Environment,
): Promise<readonly FeePayerHealth[]> {
  const served = schemes.all.filter(({ network }) => config.environmentOf(network) === env);
  const rates = await spendingRates(
    db,
    served.map(({ network }) => network),
  );
  return served.flatMap((scheme) =>
    scheme.balances().map(({ feePayer, balance, decimals, unit, low, empty }) => {
      const perDay = rates.get(`${scheme.network} ${feePayer}`);
      return {
        network: scheme.network,
        feePayer,
        unit,
        balance: balance === undefined ? undefined : formatUnits(balance, decimals),
        spentPerDay: perDay === undefined ? undefined : formatUnits(perDay, decimals),
        runwayDays: balance === undefined || !perDay ? undefined : Number((balance * 10n) / perDay) / 10,
        low,
        empty,
        settling: schemes.isSettling(scheme),
        feesTooHigh: scheme.feesTooHigh(),
      };
    }),
  );
}

/** Base units a day, by network and fee payer. The first day counts from when it began, so a new fee payer's rate is a low guess. */
async function spendingRates(db: Database, networks: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await db.query({
    name: "fee-spending-rates",
    text: `
      select network, fee_payer,
             trunc(sum(spent) / greatest(extract(epoch from now() at time zone 'utc' - min(day)) / 86400, 0.04)) as per_day
        from fee_spending
       where network = any($1) and day > (now() at time zone 'utc')::date - 7
       group by network, fee_payer`,
    values: [networks],
  });
  return new Map(rows.map(({ network, fee_payer: feePayer, per_day: perDay }) => [`${network} ${feePayer}`, perDay]));
}
