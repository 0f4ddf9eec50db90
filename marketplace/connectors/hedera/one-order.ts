import { chainRunMs } from "../../time-limits.ts";
import type { Call, Connector, Tools } from "../connector.ts";
import type { Hedera, Order } from "./hedera.ts";

/**
 * The common part of connectors whose run is one order on Hedera: `plan` turns a call into the order, and throws RefusalError if it cannot
 * work.
 */
export function oneOrder<Settings>(
  plan: (call: Call<Settings>, tools: Tools) => Promise<{ readonly hedera: Hedera; readonly order: Order }>,
) {
  return {
    timeLimitMs: chainRunMs,
    usualSeconds: [3, 15],
    permanent: true,
    hasEffects: true,
    outputKind: () => "receipt",
    precheck: async (call, tools) => (await plan(call, tools)).order,
    run: async (call, tools) => {
      const { hedera, order } = await plan(call, tools);
      return hedera.execute(call, tools.sideEffects, order);
    },
  } as const satisfies Partial<Connector<Settings>>;
}
