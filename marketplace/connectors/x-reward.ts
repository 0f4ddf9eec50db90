import { z } from "zod";
import type { Connector } from "./connector.ts";
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
import { postSettings, rewardedPost } from "./x/rule.ts";

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

/** HBAR or a token out of the creator's allowance for a post on X: once per post and once per author. */
export const xReward: Connector<z.infer<typeof settings>> = {
  id: "x-reward",
  timeLimitMs: 175_000,
  permanent: true,
  hasEffects: true,
  settings,
  outputKind: () => "receipt",
  slots: ({ post, rule, wallet }) => slotsOf({ post, rule, wallet }),
  publishProblems: ({ network, asset, amount }, tools, ownerId) =>
    groundProblems(tools, network, ownerId, (ground) => allowanceProblems(ground, asset, BigInt(amount))),
  run: async (call, tools) => {
    const { network, asset, wallet: template, per_day_max: perDayMax, budget } = call.settings;
    const amount = BigInt(call.settings.amount);
    const wallet = fillText(template, fillingOf(call)).trim();
    const enough = (ground: Ground) => allowanceProblems(ground, asset, amount);
    const ground = await standOn(tools, network, call.agent.ownerId, enough);
    const to = await receiverOf(ground, wallet, asset).catch(asFailure);
    const post = await rewardedPost(call, tools, wallet);
    return ground.hedera.execute(call, tools.effects, {
      kind: "transfer",
      make: spend(ground, asset, to, amount),
      asset,
      amount,
      dayMax: BigInt(perDayMax),
      promised: { asset, amount: amount.toString(), from: ground.wallet, to, post: post.id },
      reward: {
        postId: post.id,
        authorId: post.author.id,
        username: post.author.username,
        recipient: to,
        budget: BigInt(budget),
      },
    });
  },
};
