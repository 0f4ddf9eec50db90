import { z } from "zod";
import { type Call, type Connector, ConnectorFailure } from "./connector.ts";
import {
  asFailure,
  entitySetting,
  type Ground,
  groundProblems,
  networkSetting,
  standOn,
  unitsSetting,
} from "./hedera/ground.ts";
import { hbar, receiverOf } from "./hedera/receiver.ts";
import { allowanceProblems, spend } from "./hedera/spend.ts";
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
  run: async (call, tools) => {
    const { network, asset, to: template, per_day_max: perDayMax } = call.settings;
    const amount = amountOf(call);
    const enough = (ground: Ground) => allowanceProblems(ground, asset, amount);
    const ground = await standOn(tools, network, call.agent.ownerId, enough);
    const to = await receiverOf(ground, fillText(template, fillingOf(call)), asset).catch(asFailure);
    return ground.hedera.execute(call, tools.effects, {
      kind: "transfer",
      make: spend(ground, asset, to, amount),
      asset,
      amount,
      dayMax: BigInt(perDayMax),
      promised: { asset, amount: amount.toString(), from: ground.wallet, to },
    });
  },
};

function amountOf(call: Call<Settings>): bigint {
  const text = fillText(call.settings.amount, fillingOf(call)).trim();
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new ConnectorFailure("The amount must be a whole number of base units.");
  const amount = BigInt(text);
  const max = BigInt(call.settings.per_run_max);
  if (amount > max) throw new ConnectorFailure(`The amount is more than the ${max} base units of one run.`);
  return amount;
}
