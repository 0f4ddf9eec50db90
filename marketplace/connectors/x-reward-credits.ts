import { z } from "zod";
import { credits } from "../../shared/units.ts";
import { reward } from "../credits/ledger.ts";
import { type Connector, ConnectorFailure } from "./connector.ts";
import { slotsOf } from "./template.ts";
import { postSettings, rewardedPost } from "./x/rule.ts";

const amountSetting = z.int().min(1).max(1_000_000_000);

const settings = z
  .strictObject({
    ...postSettings,
    /** Credits for each post, in a day, and ever. */
    amount: amountSetting,
    per_day_max: amountSetting,
    budget: amountSetting,
  })
  .refine(({ amount, budget }) => amount <= budget, { path: ["budget"], message: "must be at least amount" });

/** Credits from the creator's balance to the buyer's for a post on X: once per post and once per author. */
export const xRewardCredits: Connector<z.infer<typeof settings>> = {
  id: "x-reward-credits",
  timeLimitMs: 30_000,
  // It moves nothing outside.
  permanent: false,
  hasEffects: true,
  needsAccount: true,
  settings,
  outputKind: () => "receipt",
  slots: ({ post, rule }) => slotsOf({ post, rule }),
  run: async (call, tools) => {
    const { buyerId, agent, runId, settings } = call;
    if (!buyerId)
      throw new ConnectorFailure("Credits can only be given to an account: run this agent with an API key.");
    if (buyerId === agent.ownerId) throw new ConnectorFailure("A creator cannot reward themselves.");
    const handle = await tools.people.handle(buyerId);
    const post = await rewardedPost(call, tools, handle);
    const output = { kind: "receipt", status: "SUCCESS", transactionId: runId } as const;
    const receipt = { credits: settings.amount, to: handle, post: post.id };
    const effect = {
      key: call.effectKey,
      runId,
      agentId: agent.id,
      asset: "credits",
      amount: BigInt(settings.amount),
      dayMax: BigInt(settings.per_day_max),
      promised: { kind: "credits", receipt },
      reward: {
        postId: post.id,
        authorId: post.author.id,
        username: post.author.username,
        recipient: handle,
        budget: BigInt(settings.budget),
      },
    } as const;
    await tools.effects.doHere(effect, { output, receipt }, async (tx) => {
      const amount = credits(BigInt(settings.amount));
      const paid = await reward(tx, { id: runId, creatorId: agent.ownerId, buyerId, credits: amount });
      if (!paid) throw new ConnectorFailure("The creator's balance does not cover the reward.");
      // Whoever gave up waiting has called the run a failure.
      call.signal.throwIfAborted();
    });
    return { output, receipt };
  },
};
