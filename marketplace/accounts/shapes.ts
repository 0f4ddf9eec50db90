import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { errorShape, moment, wholeCredits } from "../http/shapes.ts";
import type { ListedWallet } from "./account-wallets.ts";
import { walletReasons } from "./wallet-check.ts";

const accountState = z.enum(["open", "closed", "suspended"]);

const ownAccount = { id: z.string(), handle: z.string(), state: accountState };

export const accountShape = z.object(ownAccount).meta({ id: "Account" });

export const aboutShape = z.object({ about: z.string().nullable() }).meta({ id: "About" });

export const sessionShape = z
  .object({
    email: z.string().nullable(),
    wallet: z
      .object({ network: z.string(), address: z.string() })
      .nullable()
      .describe("Of a session signed in with a wallet alone."),
    account: z
      .object({
        ...ownAccount,
        ...aboutShape.shape,
        credits: wholeCredits,
        held_credits: wholeCredits,
        earned_credits: wholeCredits,
      })
      .nullable()
      .describe("Null until one is opened."),
  })
  .meta({ id: "Session" });

export const closingShape = z
  .object({
    credits: wholeCredits.describe("The balance, and what is set aside of it for its agents' models."),
    earned_credits: wholeCredits,
    held_credits: wholeCredits.describe("Of its own runs under way."),
    runs_under_way: z.int().describe("Its own, and those of its agents."),
    calls_owed: z.int().describe("Calls of its agents that wallets paid for and whose buyers have no result yet."),
    purchases_under_way: z.int().describe("Credits that were paid for and have not come."),
    live_agents: z.int(),
    drafts: z.int().describe("Of agents, kept and not published."),
    keys: z.int(),
    wallets: z.int(),
  })
  .meta({ id: "Closing" });

export const walletShape = covering<Omit<ListedWallet, "looked_at" | "checked_at" | "created_at">>()(
  z.object({
    id: z.templateLiteral(["wal_", z.string()]),
    network: z.string(),
    address: z.string(),
    state: z
      .enum(["unchecked", "checked", "unpayable"])
      .describe(
        "Only a `checked` wallet is paid. `unpayable`: it proved itself, but the chain refuses; see `problem`. One beside a `checked` wallet takes its place once it can be paid.",
      ),
    problem: z.string().nullable(),
    reason: z
      .enum(walletReasons)
      .nullable()
      .describe(
        "`problem` as a word; `frozen` also of an address that USDC blocks. `another_key`, of a `checked` wallet on Hedera: its account has another key than " +
          "the one that signed. It is paid, but agents do not act with it until it is added again.",
      ),
    challenge: z
      .object({ message: z.string().describe("To be signed as it stands."), expires_at: moment })
      .nullable()
      .describe("Of an unchecked wallet."),
  }),
)
  .extend({
    looked_at: moment.nullable().describe("When the chain was asked last."),
    checked_at: moment.nullable(),
    created_at: moment,
  })
  .meta({ id: "Wallet" });

export const walletsShape = z
  .object({
    wallets: z.array(walletShape),
    agents: z
      .array(z.string())
      .describe("The live agents that are paid there, as `handle/slug`: those that cost something."),
  })
  .meta({ id: "Wallets" });

export const walletRefusalShape = errorShape
  .extend({ reason: z.enum(walletReasons).optional().describe("Of a wallet that signed and cannot be paid.") })
  .meta({ id: "WalletRefusal" });

export const removedShape = z.object({ id: z.string(), removed: z.literal(true) }).meta({ id: "Removed" });
