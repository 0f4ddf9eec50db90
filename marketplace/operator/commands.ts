import { credits } from "../../shared/units.ts";
import { type Account, accountByHandle, createAccount, findAccount } from "../accounts/create.ts";
import { addPayoutWallet } from "../accounts/payout-wallets.ts";
import { accountMoves, moveAccount } from "../accounts/state.ts";
import { linkEmail } from "../accounts/users.ts";
import { checkDefinition } from "../agents/check.ts";
import { findOwnAgent, listOwnAgents } from "../agents/own.ts";
import { type Needs, publishAgent, saveDraft } from "../agents/publish.ts";
import { agentMoves, moveAgent } from "../agents/state.ts";
import { readCallCeiling, setCallCeiling } from "../api-keys/ceiling.ts";
import { createKey, type Scope, scopes } from "../api-keys/create.ts";
import { listKeys } from "../api-keys/list.ts";
import { revokeKey } from "../api-keys/revoke.ts";
import { readBalances } from "../credits/balance.ts";
import { grant } from "../credits/ledger.ts";
import { proveLedger } from "../credits/prove.ts";
import { setModelBudget } from "../models/budget.ts";
import { readAgentFile } from "./agent-file.ts";
import { type Given, readYaml, UsageError } from "./given.ts";
import { applySeed } from "./seed.ts";

export const help = `Accounts, keys, credits, wallets and agents of the marketplace, for its operator.

  npm run accounts -- <command> [options]

  account create     --handle <handle> [--if-missing]
  account show       --account <handle>
  account ${accountMoves.join("|")}  --account <handle>; closing is for good
  account ceiling    --account <handle> --rate-limit <per minute>
                     what all keys of the account may call together in a minute; 600 until it is changed
  account link       --account <handle> --email <address>
                     whoever shows that the address is theirs signs in to the account from now on
  key create         --account <handle> --name <name> [--rate-limit <per minute>] [--scope ${scopes.join("|")}]
                     [--agents <handle/slug,…>] [--max-credits-per-day <n>] [--if-missing]
                     --agents are those a key of the scope chosen_agents sees as tools
                     prints the key, which cannot be shown again
  key list           --account <handle>
  key revoke         --account <handle> --id <key_…>
  credits grant      --account <handle> --credits <n> [--note <text>] [--reference <text>]
                     a reference is granted once, however often the command is repeated
  ledger prove       recomputes every balance, hold and total from the postings; fails naming the first broken row
  wallet add         --account <handle> --network <hedera:testnet|eip155:84532|…> --address <0.0.x|0x…> [--unchecked]
                     without --unchecked you say that you made sure whose wallet it is and that it takes the asset
  agent check        --file <agent.yaml>; says what is wrong in which line
                     its keys: agent (handle/slug), name, description, connector, price_credits, fields,
                     accepts_extra_instructions, settings, secrets
  agent draft        --file <agent.yaml>; keeps it as the next version, what is live stays live
  agent publish      --file <agent.yaml>; makes it what the agent is from the next run on
  agent list         --account <handle>
  agent ${agentMoves.join("|")}   --agent <handle/slug>
  agent budget       --agent <handle/slug> [--credits <n>]
                     what its models may cost its creator in a day; without --credits the default
  seed               --file <seed.yaml>
                     makes all of the above what the file says; repeating it changes nothing. Its shape:
                     accounts: [{handle, email, credits, keys: [{name, scope, agents, rate_limit_per_minute, max_credits_per_day}],
                                 wallets: [{network, address, checked}], agents: [{slug, …as agent publish}]}]

  --json             prints one JSON document

  npm run agents -- <check|draft|publish> <agent.yaml> is short for agent … --file <agent.yaml>, and
  npm run agents -- <${agentMoves.join("|")}> <handle/slug> for agent … --agent <handle/slug>

  Environment: MARKETPLACE_DATABASE_URL; MARKETPLACE_SEALING_KEY where agents have secrets.
`;

type Command = (needs: Needs, given: Given) => Promise<unknown>;

/** What the operator can do, by name; each answers what there is to tell. */
export const commands: Record<string, Command> = {
  "account create": async ({ db }, given) => {
    const handle = given.text("handle");
    const existing = given.flag("if-missing") ? await findAccount(db, handle) : undefined;
    return existing ? { ...existing, created: false } : { ...(await createAccount(db, { handle })), created: true };
  },
  "account show": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    const [balance] = await readBalances(db, [account.id]);
    const { credits, held, earned } = balance!;
    return { ...account, credits, held, earned, calls_per_minute_max: await readCallCeiling(db, account.id) };
  },
  "account ceiling": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    await setCallCeiling(db, account.id, given.integer("rate-limit"));
    return { account: account.handle, calls_per_minute_max: given.integer("rate-limit") };
  },
  ...Object.fromEntries(
    accountMoves.map((move) => [
      `account ${move}`,
      async ({ db }: Needs, given: Given) => moveAccount(db, await accountByHandle(db, given.text("account")), move),
    ]),
  ),
  "account link": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    await linkEmail(db, account, given.text("email"));
    return { account: account.handle, email: given.text("email"), linked: true };
  },
  "key create": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    const name = given.text("name");
    const existing = given.flag("if-missing")
      ? (await listKeys(db, account.id)).find((key) => key.name === name && !key.revoked_at)
      : undefined;
    if (existing) return { id: existing.id, name, start: existing.start, created: false };
    const key = await createKey(db, {
      accountId: account.id,
      name,
      rateLimitPerMinute: given.optionalInteger("rate-limit"),
      scope: given.optionalChoice<Scope>("scope", scopes),
      agents: given.optional("agents")?.split(","),
      maxCreditsPerDay: given.optionalInteger("max-credits-per-day"),
    });
    return { ...key, created: true };
  },
  "key list": async ({ db }, given) => listKeys(db, (await accountByHandle(db, given.text("account"))).id),
  "key revoke": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    await revokeKey(db, account.id, given.text("id"));
    return { id: given.text("id"), revoked: true };
  },
  "credits grant": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    const amount = given.integer("credits");
    if (amount < 1 || amount > 1_000_000_000) throw new UsageError("--credits must be between 1 and 1000000000");
    const granted = await grant(db, {
      accountId: account.id,
      credits: credits(BigInt(amount)),
      note: given.optional("note"),
      reference: given.optional("reference"),
    });
    return { account: account.handle, credits: amount, granted };
  },
  "ledger prove": async ({ db }) => proveLedger(db),
  "wallet add": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    const [network, address, checked] = [given.text("network"), given.text("address"), !given.flag("unchecked")];
    return addPayoutWallet(db, { accountId: account.id, network, address, checked });
  },
  "agent check": async (needs, given) =>
    withFile(needs, given, async ({ address }) => ({ agent: address, problems: 0 })),
  "agent draft": async (needs, given) =>
    withFile(needs, given, ({ owner, slug, definition }) => saveDraft(needs, owner, slug, definition)),
  "agent publish": async (needs, given) =>
    withFile(needs, given, ({ owner, slug, definition }) => publishAgent(needs, owner, slug, definition)),
  "agent list": async ({ db }, given) => {
    const agents = await listOwnAgents(db, (await accountByHandle(db, given.text("account"))).id);
    return agents.map(({ handle, slug, state, name, connector, priceCredits, liveVersion, newestVersion }) => {
      const versions = { live_version: state === "live" ? liveVersion : null, newest_version: newestVersion };
      return { agent: `${handle}/${slug}`, state, name, connector, price_credits: priceCredits, ...versions };
    });
  },
  ...Object.fromEntries(
    agentMoves.map((move) => [
      `agent ${move}`,
      ({ db }: Needs, given: Given) => moveAgent(db, given.text("agent"), move),
    ]),
  ),
  "agent budget": async ({ db }, given) => {
    const [handle = "", slug = ""] = given.text("agent").split("/");
    const own = await findOwnAgent(db, (await accountByHandle(db, handle)).id, slug);
    const credits_per_day = given.optionalInteger("credits") ?? null;
    await setModelBudget(db, own.id, credits_per_day);
    return { agent: `${own.handle}/${own.slug}`, model_credits_per_day: credits_per_day ?? "default" };
  },
  seed: async (needs, given) => applySeed(needs, await readYaml(given.text("file"))),
};

/** Does something with an agent's file whose definition fits together; otherwise says in which lines it does not. */
async function withFile<T>(needs: Needs, given: Given, work: (file: CheckedFile) => Promise<T>): Promise<T> {
  const { handle, slug, definition, refusal } = await readAgentFile(given.text("file"));
  const owner = await accountByHandle(needs.db, handle);
  const checked = await checkDefinition(needs.tools, owner.id, definition);
  if ("problems" in checked) throw refusal(checked.problems);
  return work({ owner, slug, definition, address: `${owner.handle}/${slug}` });
}

interface CheckedFile {
  readonly owner: Account;
  readonly slug: string;
  readonly definition: object;
  readonly address: string;
}
