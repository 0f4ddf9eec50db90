import { z } from "zod";
import type { Call, Connector, Tools } from "./connector.ts";
import {
  entitySetting,
  groundProblems,
  networkSetting,
  refuseSilence,
  standOn,
  unitsSetting,
} from "./hedera/ground.ts";
import type { Hedera, Order } from "./hedera/hedera.ts";
import { hbar, receiverOf } from "./hedera/receiver.ts";
import { allowancePool, allowanceProblems, assetProblems, spend } from "./hedera/spend.ts";
import { refuseInput } from "./refusal.ts";
import { fillingOf, fillText, slotsOf } from "./template.ts";

const settings = z
  .strictObject({
    network: networkSetting,
    /** `hbar`, or a token. */
    asset: z.union([z.literal(hbar), entitySetting]),
    /** Templates: who receives, and how many base units (tinybars of HBAR). */
    to: z.string().min(1).max(200),
    amount: z.string().min(1).max(200),
    per_run_max: unitsSetting,
    per_day_max: unitsSetting,
  })
  .refine(({ per_run_max: run, per_day_max: day }) => BigInt(run) <= BigInt(day), {
    path: ["per_day_max"],
    message: "must be at least per_run_max",
  });

type Settings = z.infer<typeof settings>;

/** HBAR or a token out of the creator's allowance, to whom and how much the templates say, within the creator's caps. */
export const hederaTransfer: Connector<Settings> = {
  id: "hedera-transfer",
  timeLimitMs: 175_000,
  permanent: true,
  hasEffects: true,
  settings,
  outputKind: () => "receipt",
  slots: ({ to, amount }) => slotsOf({ to, amount }),
  publishProblems: ({ network, asset, per_run_max: perRunMax }, tools, ownerId) =>
    groundProblems(tools, network, ownerId, (ground) => allowanceProblems(ground, asset, BigInt(perRunMax))),
  precheck: async (call, tools) => (await plan(call, tools)).order,
  run: async (call, tools) => {
    const { hedera, order } = await plan(call, tools);
    return hedera.execute(call, tools.effects, order);
  },
};

async function plan(call: Call<Settings>, tools: Tools): Promise<{ hedera: Hedera; order: Order }> {
  const { network, asset, to: template, per_day_max: perDayMax } = call.settings;
  const amount = amountOf(call);
  const ground = await standOn(tools, network, call.agent.ownerId, (one) => assetProblems(one, asset));
  const [to, pool] = await Promise.all([
    receiverOf(ground, fillText(template, fillingOf(call)), asset, template),
    allowancePool(ground, asset),
  ]).catch(refuseSilence);
  const order: Order = {
    kind: "transfer",
    make: spend(ground, asset, to, amount),
    asset,
    amount,
    dayMax: BigInt(perDayMax),
    pools: [pool],
    promised: { asset, amount: amount.toString(), from: ground.wallet, to },
  };
  return { hedera: ground.hedera, order };
}

function amountOf(call: Call<Settings>): bigint {
  const template = call.settings.amount;
  const text = fillText(template, fillingOf(call)).trim();
  if (!/^[1-9]\d{0,18}$/.test(text)) {
    throw refuseInput(template, "bad_request", "The amount must be a whole number of base units.");
  }
  const amount = BigInt(text);
  const max = BigInt(call.settings.per_run_max);
  if (amount <= max) return amount;
  throw refuseInput(template, "invalid_value", `The amount is more than the ${max} base units of one run.`);
}
