import { z } from "zod";
import type { Call, Connector, Tools } from "./connector.ts";
import { bringsOf, type Guide, settingNotes } from "./guide.ts";
import type { Hedera, Order } from "./hedera/hedera.ts";
import { inTurn } from "./hedera/in-turn.ts";
import { oneOrder } from "./hedera/one-order.ts";
import {
  networkSetting,
  preconditionProblems,
  refuseSilence,
  requirePreconditions,
  unitsSetting,
} from "./hedera/preconditions.ts";
import { assetSetting, receiverOf } from "./hedera/receiver.ts";
import { allowancePool, allowanceProblems, assetProblems, spend } from "./hedera/spend.ts";
import { refuseInput } from "./refusal.ts";
import { fillingOf, fillText, slotsOf } from "./template.ts";

const settings = z
  .strictObject({
    network: networkSetting,
    asset: assetSetting,
    /** Templates: the receiver, and how many base units (tinybars of HBAR). */
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

const guide: Guide = {
  kind: "ledgers",
  icon: "send",
  does: "Moves HBAR or a token out of your wallet's allowance to whom and how much your templates say, within your caps.",
  settings: {
    network: settingNotes.network,
    asset: settingNotes.asset,
    to: "template: who receives",
    amount: `template: how much, ${settingNotes.baseUnits}`,
    per_run_max: `${settingNotes.perRun}, ${settingNotes.baseUnits}`,
    per_day_max: `${settingNotes.perDay}, ${settingNotes.baseUnits}`,
  },
  brings: bringsOf.allowance,
  template: ({ hedera }) => ({
    name: "Send a tip",
    description: "Sends a small tip in HBAR to the account you name.",
    category: "on-chain",
    tags: ["hbar", "tip"],
    price_credits: 30,
    fields: [
      {
        name: "to",
        label: "To",
        type: "string",
        required: true,
        pattern: "^0\\.0\\.[0-9]{1,10}$",
        example: "0.0.1234",
      },
      {
        name: "tinybars",
        label: "Tinybars",
        type: "integer",
        min: 1,
        max: 100_000_000,
        default: 10_000_000,
        description: "100,000,000 are one HBAR.",
      },
    ],
    accepts_extra_instructions: false,
    settings: {
      network: hedera,
      asset: "hbar",
      to: "{{to}}",
      amount: "{{tinybars}}",
      per_run_max: "100000000",
      per_day_max: "1000000000",
    },
  }),
};

/** Sends HBAR or a token out of the creator's allowance, to the receiver and in the amount that the templates give, within the creator's caps. */
export const hederaTransfer: Connector<Settings> = {
  id: "hedera-transfer",
  guide,
  settings,
  ...oneOrder<Settings>((call, tools) => inTurn(call, () => plan(call, tools))),
  slots: ({ to, amount }) => slotsOf({ to, amount }),
  publishProblems: ({ network, asset, per_run_max: perRunMax }, tools, ownerId) =>
    preconditionProblems(tools, network, ownerId, (preconditions) =>
      allowanceProblems(preconditions, asset, BigInt(perRunMax)),
    ),
};

async function plan(call: Call<Settings>, tools: Tools): Promise<{ hedera: Hedera; order: Order }> {
  const { network, asset, to: template, per_day_max: perDayMax } = call.settings;
  const amount = amountOf(call);
  const preconditions = await requirePreconditions(tools, network, call.agent.ownerId, (one) =>
    assetProblems(one, asset),
  );
  const [to, pool] = await Promise.all([
    receiverOf(preconditions, fillText(template, fillingOf(call)), asset, template),
    allowancePool(preconditions, asset),
  ]).catch(refuseSilence);
  const order: Order = {
    kind: "transfer",
    make: spend(preconditions, asset, to, amount),
    asset,
    amount,
    dayMax: BigInt(perDayMax),
    pools: [pool],
    fees: preconditions.hedera.feesOf(call.agent),
    promised: { asset, amount: amount.toString(), from: preconditions.wallet, to },
  };
  return { hedera: preconditions.hedera, order };
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
