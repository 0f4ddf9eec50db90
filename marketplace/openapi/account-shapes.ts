import { z } from "zod";
import type { ListedWallet } from "../accounts/own-wallets.ts";
import { noticeKinds } from "../agents/notices.ts";
import { scopes } from "../api-keys/create.ts";
import type { ListedKey } from "../api-keys/list.ts";
import { connectorIds } from "../connectors/connector.ts";
import { type ModelState, stops } from "../models/model-funds.ts";
import type { ListedDebt } from "../payments/debts.ts";
import type { Debt } from "../payments/owed.ts";
import { anyObject, covering, moment, output, wholeCredits } from "./shapes.ts";

/** Answers of sign-in and of the account's settings. */

const accountState = z.enum(["open", "closed", "suspended"]);
const agentState = z.enum(["draft", "live", "unpublished", "suspended"]);

export const linkSentShape = z
  .object({
    sent_to: z.string(),
    expires_in_seconds: z.int(),
    link: z
      .string()
      .optional()
      .describe("Only where there is no mail server and the service runs on your own machine."),
  })
  .meta({ id: "LinkSent" });

export const signedInShape = z.object({ signed_in: z.boolean() }).meta({ id: "SignedIn" });

export const providerShape = z.object({ url: z.string().describe("Go there to sign in.") }).meta({ id: "Provider" });

export const challengeShape = z
  .object({
    challenge_id: z.string(),
    message: z.string().describe("To be signed as it stands."),
    expires_at: moment,
  })
  .meta({ id: "Challenge" });

const ownAccount = { id: z.string(), handle: z.string(), state: accountState };

export const accountShape = z.object(ownAccount).meta({ id: "Account" });

export const sessionShape = z
  .object({
    email: z.string().nullable(),
    wallet: z
      .object({ network: z.string(), address: z.string() })
      .nullable()
      .describe("Of a session signed in with a wallet alone."),
    account: z
      .object({ ...ownAccount, credits: wholeCredits, held_credits: wholeCredits, earned_credits: wholeCredits })
      .nullable()
      .describe("Null until one is opened."),
  })
  .meta({ id: "Session" });

const debt = {
  agent: z.string().describe("`handle/slug`."),
  network: z.string(),
  transaction: z.string(),
  asset: z.string(),
  amount: z.string().describe("Base units of the asset."),
};

export const owedShape = z
  .object({ error: z.string(), charged: z.literal(true), debt: covering<Debt>()(z.object(debt).meta({ id: "Debt" })) })
  .meta({ id: "Owed" });

export const debtsShape = z
  .object({
    debts: z.array(
      covering<Omit<ListedDebt, "created_at" | "updated_at">>()(
        z.object({
          ...debt,
          payer: z.string().nullable(),
          error: z.string().nullable().describe("Why there is no result, where that is known."),
        }),
      )
        .extend({ created_at: moment, updated_at: moment })
        .meta({ id: "ListedDebt" }),
    ),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: "Debts" });

const key = covering<Omit<ListedKey, "max_credits_per_day" | Moments> & { max_credits_per_day: number | null }>()(
  z.object({
    id: z.templateLiteral(["key_", z.string()]),
    name: z.string(),
    start: z.string().describe("How the key begins."),
    last4: z.string(),
    scope: z.enum(scopes),
    agents: z.array(z.string()),
    rate_limit_per_minute: z.int(),
    max_credits_per_day: z.int().nullable(),
  }),
);

type Moments = "created_at" | "last_used_at" | "revoked_at";

export const keysShape = z
  .object({
    keys: z.array(
      key
        .extend({
          created_at: moment,
          last_used_at: moment.nullable().describe("About then: to the minute."),
          revoked_at: moment.nullable(),
        })
        .meta({ id: "Key" }),
    ),
    keys_max: z.int(),
  })
  .meta({ id: "Keys" });

export const newKeyShape = z
  .object({ id: z.string(), name: z.string(), token: z.string().describe("The key: shown here and never again.") })
  .meta({ id: "NewKey" });

export const revokedShape = z.object({ id: z.string(), revoked: z.literal(true) }).meta({ id: "Revoked" });

export const walletShape = covering<Omit<ListedWallet, "checked_at" | "created_at">>()(
  z.object({
    id: z.templateLiteral(["wal_", z.string()]),
    network: z.string(),
    address: z.string(),
    state: z
      .enum(["unchecked", "checked", "unpayable"])
      .describe(
        "Only a `checked` wallet is paid. `unpayable`: it proved itself, but the chain refuses; see `problem`.",
      ),
    problem: z.string().nullable(),
    challenge: z
      .object({ message: z.string().describe("To be signed as it stands."), expires_at: moment })
      .nullable()
      .describe("Of an unchecked wallet."),
  }),
)
  .extend({ checked_at: moment.nullable(), created_at: moment })
  .meta({ id: "Wallet" });

export const walletsShape = z.object({ wallets: z.array(walletShape) }).meta({ id: "Wallets" });
export const removedShape = z.object({ id: z.string(), removed: z.literal(true) }).meta({ id: "Removed" });

const ownAgent = {
  agent: z.string(),
  state: agentState,
  name: z.string(),
  connector: z.enum(connectorIds),
  price_credits: wholeCredits,
  live_version: z.int().nullable(),
  newest_version: z.int(),
  created_at: moment,
  updated_at: moment,
};

export const ownAgentsShape = z
  .object({ agents: z.array(z.object(ownAgent).meta({ id: "OwnAgent" })) })
  .meta({ id: "OwnAgents" });

const ownModel = covering<ModelState>()(
  z.object({
    credits_per_run: wholeCredits.describe("What you bear of a run; a run paid with credits pays it out of its price."),
    credits_per_day: wholeCredits.describe("What the agent's models may cost you in a day (UTC)."),
    credits_used_today: wholeCredits,
    stopped_for: z.enum(stops).nullable().describe("Why the agent answers 503 at the moment."),
  }),
)
  .nullable()
  .describe("Of the live version, or else the newest; null where it calls no model of the platform's.");

export const modelBudgetShape = z.object({ agent: z.string(), model: ownModel }).meta({ id: "AgentModel" });

export const ownAgentShape = z
  .object({
    ...ownAgent,
    definition: anyObject.describe("Of the newest version, as it was sent, but for the secrets."),
    secret_names: z.array(z.string()),
    model: ownModel,
    notices: z
      .array(
        z
          .object({
            kind: z.enum(noticeKinds),
            text: z.string(),
            version: z.int().describe("Of the agent, when it happened last."),
            times: z.int(),
            first_at: moment,
            last_at: moment,
          })
          .meta({ id: "AgentNotice" }),
      )
      .describe("What its creator should know of what went wrong, the latest first."),
  })
  .meta({ id: "OwnAgentDetail" });

export const problemsShape = z
  .object({ problems: z.array(z.object({ field: z.string().nullable(), message: z.string() })) })
  .meta({ id: "Problems" });

export const agentVersionShape = z
  .object({
    agent: z.string(),
    version: z.int(),
    state: agentState,
    changed: z.boolean().optional().describe("False when this very version was live already."),
  })
  .meta({ id: "AgentVersion" });

export const agentStateShape = z.object({ agent: z.string(), state: agentState }).meta({ id: "AgentState" });

export const triedShape = z
  .object({
    success: z.boolean(),
    version: z.int(),
    output: output.optional(),
    receipt: anyObject.nullable().optional(),
    error: z.string().optional(),
  })
  .meta({ id: "Tried" });
