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
import { fillingOf, fillText, slotsOf } from "./template.ts";
import { postField, postSettingNotes } from "./x/guide.ts";
import { admitClaim, dayProblems, postSettings, requirePostLink, rewardedPost } from "./x/rule.ts";

const settings = z
  .strictObject({
    ...postSettings,
    network: networkSetting,
    asset: assetSetting,
    /** Template: the receiver. */
    wallet: z.string().min(1).max(200).default("{{wallet}}"),
    /** Base units for each post, in a day, and ever. */
    amount: unitsSetting,
    per_day_max: unitsSetting,
    budget: unitsSetting,
  })
  .refine(({ amount, budget }) => BigInt(amount) <= BigInt(budget), {
    path: ["budget"],
    message: "must be at least amount",
  });

type Settings = z.infer<typeof settings>;

const guide: Guide = {
  kind: "rewards",
  icon: "gift",
  does: "Checks a public post on X against your rule and rewards it from your wallet's allowance: once a post and once an author.",
  settings: {
    ...postSettingNotes,
    network: settingNotes.network,
    asset: settingNotes.asset,
    wallet: "template: who is rewarded",
    amount: `for each post, ${settingNotes.baseUnits}`,
    per_day_max: `${settingNotes.perDay}, ${settingNotes.baseUnits}`,
    budget: `ever, ${settingNotes.baseUnits}`,
  },
  brings: bringsOf.allowance,
  template: ({ hedera }) => ({
    name: "Thank a post",
    description: "A little HBAR for a post on X about #hedera that names your account.",
    category: "social",
    tags: ["reward", "post"],
    price_credits: 5,
    fields: [
      postField,
      {
        name: "wallet",
        label: "Your account",
        type: "string",
        required: true,
        pattern: "^0\\.0\\.[0-9]{1,10}$",
        description: "The post has to name it.",
        example: "0.0.1234",
      },
    ],
    accepts_extra_instructions: false,
    settings: {
      post: "{{post}}",
      rule: { hashtags: ["hedera"], posted_within_days: 7, author_age_days_min: 30, names_receiver: true },
      network: hedera,
      asset: "hbar",
      wallet: "{{wallet}}",
      amount: "10000000",
      per_day_max: "100000000",
      budget: "1000000000",
    },
  }),
};

/** HBAR or a token out of the creator's allowance for a post on X: once per post and once per author. */
export const xReward: Connector<Settings> = {
  id: "x-reward",
  guide,
  settings,
  ...oneOrder(plan),
  precheck: async (call, tools) => {
    await admitClaim(call, tools);
    return (await plan(call, tools)).order;
  },
  slots: ({ post, rule, wallet }) => slotsOf({ post, rule, wallet }),
  publishProblems: async ({ network, asset, amount, per_day_max: perDayMax }, tools, ownerId) => [
    ...dayProblems(BigInt(amount), BigInt(perDayMax)),
    ...(await preconditionProblems(tools, network, ownerId, (preconditions) =>
      allowanceProblems(preconditions, asset, BigInt(amount)),
    )),
  ],
};

async function plan(call: Call<Settings>, tools: Tools): Promise<{ hedera: Hedera; order: Order }> {
  const { network, asset, wallet: template, per_day_max: perDayMax, budget } = call.settings;
  const amount = BigInt(call.settings.amount);
  const wallet = fillText(template, fillingOf(call)).trim();
  requirePostLink(call);
  const { preconditions, to, pool } = await inTurn(call, async () => {
    const found = await requirePreconditions(tools, network, call.agent.ownerId, (one) => assetProblems(one, asset));
    const to = await receiverOf(found, wallet, asset, template).catch(refuseSilence);
    return { preconditions: found, to, pool: await allowancePool(found, asset).catch(refuseSilence) };
  });
  const post = await rewardedPost(call, tools, wallet);
  const order: Order = {
    kind: "transfer",
    make: spend(preconditions, asset, to, amount),
    asset,
    amount,
    dayMax: BigInt(perDayMax),
    pools: [pool],
    fees: preconditions.hedera.feesOf(call.agent),
    promised: { asset, amount: amount.toString(), from: preconditions.wallet, to, post: post.id },
    reward: {
      postId: post.id,
      authorId: post.author.id,
      username: post.author.username,
      recipient: to,
      budget: BigInt(budget),
    },
  };
  return { hedera: preconditions.hedera, order };
}
