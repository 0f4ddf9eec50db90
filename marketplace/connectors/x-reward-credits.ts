import { z } from "zod";
import { credits } from "../../shared/units.ts";
import { reward } from "../credits/ledger.ts";
import type { AccountId } from "../ids.ts";
import { type Call, type Connector, ConnectorFailure, type Tools } from "./connector.ts";
import { Refusal } from "./refusal.ts";
import type { Spending } from "./reservations.ts";
import { slotsOf } from "./template.ts";
import { postSettings, requirePostLink, rewardedPost } from "./x/rule.ts";

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

type Settings = z.infer<typeof settings>;

/** Credits from the creator's balance to the buyer's for a post on X: once per post and once per author. */
export const xRewardCredits: Connector<Settings> = {
  id: "x-reward-credits",
  timeLimitMs: 30_000,
  // It moves nothing outside.
  permanent: false,
  hasEffects: true,
  needsAccount: true,
  settings,
  outputKind: () => "receipt",
  slots: ({ post, rule }) => slotsOf({ post, rule }),
  precheck: async (call, tools) => (await plan(call, tools)).spending,
  run: async (call, tools) => {
    const { agent, effectKey: key, runId, settings } = call;
    const { buyerId, handle, postId, spending } = await plan(call, tools);
    const output = { kind: "receipt", status: "SUCCESS", transactionId: runId } as const;
    const receipt = { credits: settings.amount, to: handle, post: postId };
    const effect = { ...spending, key, runId, agentId: agent.id, promised: { kind: "credits", receipt } } as const;
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

async function plan(call: Call<Settings>, tools: Tools): Promise<Plan> {
  const { buyerId, agent, settings } = call;
  if (!buyerId) throw new Refusal("conflict", "Credits can only be given to an account.");
  if (buyerId === agent.ownerId) throw new Refusal("conflict", "A creator cannot reward themselves.");
  requirePostLink(call);
  const handle = await tools.people.handle(buyerId);
  const post = await rewardedPost(call, tools, handle);
  const spending: Spending = {
    asset: "credits",
    amount: BigInt(settings.amount),
    dayMax: BigInt(settings.per_day_max),
    creditsOf: agent.ownerId,
    reward: {
      postId: post.id,
      authorId: post.author.id,
      username: post.author.username,
      recipient: handle,
      budget: BigInt(settings.budget),
    },
  };
  return { buyerId, handle, postId: post.id, spending };
}

interface Plan {
  readonly buyerId: AccountId;
  readonly handle: string;
  readonly postId: string;
  readonly spending: Spending;
}
