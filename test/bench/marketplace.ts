import { benchCatalog } from "./marketplace/catalog.ts";
import { benchHistory } from "./marketplace/history.ts";
import { benchRuns } from "./marketplace/runs.ts";
import { startSetting } from "./marketplace/setting.ts";

/** Runs beside bare SQL, the balance beside a bare route, long histories beside short, a large catalog beside a small. */
export async function benchMarketplace(): Promise<void> {
  for (const bench of [benchRuns, benchHistory, benchCatalog]) {
    const setting = await startSetting();
    try {
      await bench(setting);
    } finally {
      await setting.stop();
    }
  }
}
