import { z } from "zod";
import { credits } from "../credits/amount.ts";
import { reward } from "../credits/ledger.ts";
import type { AccountId } from "../ids.ts";
import type { Call, Connector, Tools } from "./connector.ts";
import type { Guide } from "./guide.ts";
import { RefusalError } from "./refusal.ts";
import type { Spending } from "./reservations.ts";
import { ConnectorError } from "./result.ts";
import { slotsOf } from "./template.ts";
import { postField, postSettingNotes } from "./x/guide.ts";
import { admitClaim, dayProblems, postSettings, requirePostLink, rewardedPost } from "./x/rule.ts";

const amountMax = 1_000_000_000;
const amountRule = `must be a whole number from 1 to ${amountMax}, as a number or as text`;
/** Taken as a number or, like amounts in base units, as text. */
const amountSetting = z.union(
  [
    z.int(amountRule).min(1, amountRule).max(amountMax, amountRule),
    z
      .string()
      .regex(/^[1-9]\d{0,9}$/, amountRule)
      .transform(Number)
      .pipe(z.int().max(amountMax, amountRule)),
  ],
  amountRule,
);

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

const guide: Guide = {
  kind: "rewards",
  icon: "ticket",
  does:
    "Checks a public post on X against your rule and rewards it with credits from your balance: once a post and once an author. For " +
    "buyers with an account, so not sold per call.",
  settings: {
    ...postSettingNotes,
    amount: "credits for each post",
    per_day_max: "credits in any 24 hours at most",
    budget: "credits ever",
  },
  template: () => ({
    name: "Thank with credits",
    description: "Credits for a post on X about #hedera that names your handle.",
    category: "social",
    tags: ["reward", "post"],
    price_credits: 0,
    fields: [postField],
    accepts_extra_instructions: false,
    settings: {
      post: "{{post}}",
      rule: { hashtags: ["hedera"], posted_within_days: 7, author_age_days_min: 30, names_receiver: true },
      amount: 5,
      per_day_max: 50,
      budget: 500,
    },
  }),
};

/** Credits from the creator's balance to the buyer's for a post on X: once per post and once per author. */
export const xRewardCredits: Connector<Settings> = {
  id: "x-reward-credits",
  guide,
  timeLimitMs: 30_000,
  usualSeconds: [2, 15],
  // Its effect stays in the marketplace.
  permanent: false,
  hasEffects: true,
  needsAccount: true,
  settings,
  outputKind: () => "receipt",
  slots: ({ post, rule }) => slotsOf({ post, rule }),
  publishProblems: async ({ amount, per_day_max: perDayMax }) => dayProblems(BigInt(amount), BigInt(perDayMax)),
  precheck: async (call, tools) => {
    await admitClaim(call, tools);
    return (await plan(call, tools)).spending;
  },
  run: async (call, tools) => {
    const { agent, effectKey: key, runId, settings } = call;
    const { buyerId, handle, postId, spending } = await plan(call, tools);
    const output = { kind: "receipt", status: "SUCCESS", transactionId: runId } as const;
    const receipt = { credits: settings.amount, to: handle, post: postId };
    const effect = { ...spending, key, runId, agentId: agent.id, promised: { kind: "credits", receipt } } as const;
    await tools.sideEffects.doHere(effect, { output, receipt }, async (tx) => {
      const amount = credits(BigInt(settings.amount));
      const paid = await reward(tx, { id: runId, creatorId: agent.ownerId, buyerId, credits: amount });
      if (!paid) throw new ConnectorError("The creator's balance does not cover the reward.");
      // A caller that stopped waiting has recorded the run as failed.
      call.signal.throwIfAborted();
    });
    return { output, receipt };
  },
};

async function plan(call: Call<Settings>, tools: Tools): Promise<Plan> {
  const { buyerId, agent, settings } = call;
  if (!buyerId) throw new RefusalError("conflict", "Credits can only be given to an account.");
  if (buyerId === agent.ownerId) throw new RefusalError("conflict", "A creator cannot reward themselves.");
  requirePostLink(call);
  const handle = await tools.accounts.handle(buyerId);
  // A handle alone is free choice: "paper" would be named by every post about #paper.
  const post = await rewardedPost(call, tools, `reward:${handle}`);
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
