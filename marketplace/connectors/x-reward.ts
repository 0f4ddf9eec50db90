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
import { fillingOf, fillText, slotsOf } from "./template.ts";
import { postSettings, requirePostLink, rewardedPost } from "./x/rule.ts";

const settings = z
  .strictObject({
    ...postSettings,
    network: networkSetting,
    /** `hbar`, or a token. */
    asset: z.union([z.literal(hbar), entitySetting]),
    /** Template: who receives. */
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

/** HBAR or a token out of the creator's allowance for a post on X: once per post and once per author. */
export const xReward: Connector<Settings> = {
  id: "x-reward",
  timeLimitMs: 175_000,
  permanent: true,
  hasEffects: true,
  settings,
  outputKind: () => "receipt",
  slots: ({ post, rule, wallet }) => slotsOf({ post, rule, wallet }),
  publishProblems: ({ network, asset, amount }, tools, ownerId) =>
    groundProblems(tools, network, ownerId, (ground) => allowanceProblems(ground, asset, BigInt(amount))),
  precheck: async (call, tools) => (await plan(call, tools)).order,
  run: async (call, tools) => {
    const { hedera, order } = await plan(call, tools);
    return hedera.execute(call, tools.effects, order);
  },
};

async function plan(call: Call<Settings>, tools: Tools): Promise<{ hedera: Hedera; order: Order }> {
  const { network, asset, wallet: template, per_day_max: perDayMax, budget } = call.settings;
  const amount = BigInt(call.settings.amount);
  const wallet = fillText(template, fillingOf(call)).trim();
  requirePostLink(call);
  const ground = await standOn(tools, network, call.agent.ownerId, (one) => assetProblems(one, asset));
  const to = await receiverOf(ground, wallet, asset, template).catch(refuseSilence);
  const [post, pool] = await Promise.all([
    rewardedPost(call, tools, wallet),
    allowancePool(ground, asset).catch(refuseSilence),
  ]);
  const order: Order = {
    kind: "transfer",
    make: spend(ground, asset, to, amount),
    asset,
    amount,
    dayMax: BigInt(perDayMax),
    pools: [pool],
    promised: { asset, amount: amount.toString(), from: ground.wallet, to, post: post.id },
    reward: {
      postId: post.id,
      authorId: post.author.id,
      username: post.author.username,
      recipient: to,
      budget: BigInt(budget),
    },
  };
  return { hedera: ground.hedera, order };
}
