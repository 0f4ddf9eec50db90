import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { type Account, accountByHandle, createAccount, findAccount, lockUnclosedAccount } from "../accounts/create.ts";
import { addPayoutWallet } from "../accounts/payout-wallets.ts";
import { accountMoves, moveAccount } from "../accounts/state.ts";
import { linkEmail } from "../accounts/users.ts";
import { actTextMax } from "../admin/acts.ts";
import { recordMove } from "../admin/moves.ts";
import { listOperators, nameOperator, removeOperator } from "../admin/operators.ts";
import { checkDefinition } from "../agents/check.ts";
import { findOwnAgent, listOwnAgents } from "../agents/creator-agents.ts";
import { type PublishNeeds, publishAgent, saveDraft } from "../agents/publish.ts";
import { agentMoves, moveAgent } from "../agents/state.ts";
import { ceilingUsual, readCallCeiling, setCallCeiling } from "../api-keys/ceiling.ts";
import { createKey } from "../api-keys/create.ts";
import { keyName, type Scope, scopes } from "../api-keys/key-settings.ts";
import { findKeyNamed, listKeys } from "../api-keys/list.ts";
import { revokeKey } from "../api-keys/revoke.ts";
import { credits } from "../credits/amount.ts";
import { readBalances } from "../credits/balance.ts";
import { type Grant, grant, grantedFor } from "../credits/ledger.ts";
import { proveLedger } from "../credits/prove.ts";
import { setModelBudget } from "../models/budget.ts";
import { listReports, resolveReport } from "../reports/operator-reports.ts";
import { readAgentFile } from "./agent-file.ts";
import { type Arguments, readYaml, UsageError } from "./arguments.ts";
import { requireSameKey } from "./same-key.ts";
import { applySeed } from "./seed.ts";

export const help = `Accounts, keys, credits, wallets and agents of the marketplace, for its operator.

  npm run accounts -- <command> [options]

  account create     --handle <handle> [--if-missing]
  account show       --account <handle>
  account ${accountMoves.join("|")}  --account <handle> [--reason <text>]; closing is for good
                     whose account is suspended is told why by e-mail
  account ceiling    --account <handle> --rate-limit <per minute>
                     what all keys of the account may call together in a minute; ${ceilingUsual} until it is changed
  account link       --account <handle> --email <address>
                     the person who shows that the address is theirs signs in to the account from now on
  key create         --account <handle> --name <name> [--rate-limit <per minute>] [--scope ${scopes.join("|")}]
                     [--agents <handle/slug,…>] [--max-credits-per-day <n>] [--max-credits-per-month <n>] [--if-missing]
                     --agents are those a key of the scope chosen_agents sees as tools
                     prints the key, which cannot be shown again
  key list           --account <handle>
  key revoke         --account <handle> --id <key_…>
  credits grant      --account <handle> --credits <n> [--note <text>] [--reference <text>]
                     a reference is granted once, however often the command is repeated: "already_granted" says so,
                     and another account or amount than then is an error
  ledger prove       recomputes every balance, hold and total from the postings; fails naming the first broken row
  wallet add         --account <handle> --network <hedera:testnet|eip155:84532|…> --address <0.0.x|0x…> [--unchecked]
                     without --unchecked you say that you made sure whose wallet it is and that it takes the asset
  agent check        --file <agent.yaml>; says what is wrong in which line
                     its keys: agent (handle/slug), name, description, connector, price_credits, fields,
                     accepts_extra_instructions, settings, secrets
  agent draft        --file <agent.yaml>; keeps it as the next version, what is live stays live
  agent publish      --file <agent.yaml>; makes it what the agent is from the next run on
  agent list         --account <handle>
  agent ${agentMoves.join("|")}   --agent <handle/slug> [--reason <text>]
                     the creator of an agent that is suspended is told why by e-mail and in the console
  agent budget       --agent <handle/slug> [--credits <n>]
                     what its models may cost its creator in a day; without --credits the default
  report list        [--all] [--limit <n>]
                     what visitors reported of agents and is not resolved yet, newest first; with --all the resolved too
  report resolve     --id <rpt_…> [--note <text>]
                     the agent stays as it is; "agent suspend" takes it off the market
  operator add       --account <handle>
                     its holder may act at /admin from now on; prints the secret for their authenticator, which cannot be
                     shown again. Repeated, it gives a new secret, and codes of the one before end
  operator remove    --account <handle>
  operator list
  seed               --file <seed.yaml>
                     makes all of the above what the file says; repeating it changes nothing. Its shape:
                     accounts: [{handle, email, credits, keys: [{name, scope, agents, rate_limit_per_minute, max_credits_per_day}],
                                 wallets: [{network, address, checked}], agents: [{slug, …as agent publish}]}]

  --json             prints one JSON document

  npm run agents -- <check|draft|publish> <agent.yaml> is short for agent … --file <agent.yaml>, and
  npm run agents -- <${agentMoves.join("|")}> <handle/slug> for agent … --agent <handle/slug>

  Environment: MARKETPLACE_DATABASE_URL; MARKETPLACE_SEALING_KEY where agents have secrets.
`;

type Command = (needs: PublishNeeds, args: Arguments) => Promise<unknown>;

/** The operator's commands by name; each answers the text to print. */
export const commands: Record<string, Command> = {
  "account create": async ({ db }, args) => {
    const handle = args.text("handle");
    const existing = args.flag("if-missing") ? await findAccount(db, handle) : undefined;
    return existing ? { ...existing, created: false } : { ...(await createAccount(db, { handle })), created: true };
  },
  "account show": async ({ db }, args) => {
    const account = await accountByHandle(db, args.text("account"));
    const [balance] = await readBalances(db, [account.id]);
    const { credits, held, earned } = balance!;
    return { ...account, credits, held, earned, calls_per_minute_max: await readCallCeiling(db, account.id) };
  },
  "account ceiling": async ({ db }, args) => {
    const account = await accountByHandle(db, args.text("account"));
    await setCallCeiling(db, account.id, args.integer("rate-limit"));
    return { account: account.handle, calls_per_minute_max: args.integer("rate-limit") };
  },
  ...Object.fromEntries(
    accountMoves.map((move) => [
      `account ${move}`,
      async ({ db }: PublishNeeds, args: Arguments) => {
        const account = await accountByHandle(db, args.text("account"));
        const [accountId, subject, reason] = [account.id, account.handle, actText(args, "reason")];
        const record = (tx: Transaction) => recordMove(tx, { of: "account", move, accountId, subject, reason });
        return moveAccount(db, account, move, { record });
      },
    ]),
  ),
  "account link": async ({ db }, args) => {
    const account = await accountByHandle(db, args.text("account"));
    await linkEmail(db, account, args.text("email"));
    return { account: account.handle, email: args.text("email"), linked: true };
  },
  "key create": async ({ db }, args) => {
    const account = await accountByHandle(db, args.text("account"));
    const name = keyName(args.text("name"));
    const existing = args.flag("if-missing") ? await findKeyNamed(db, account.id, name) : undefined;
    if (existing) {
      requireSameKey(existing, args);
      return { id: existing.id, name, start: existing.start, created: false };
    }
    const key = await createKey(db, {
      accountId: account.id,
      name,
      rateLimitPerMinute: args.optionalInteger("rate-limit"),
      scope: args.optionalChoice<Scope>("scope", scopes),
      agents: args.optional("agents")?.split(","),
      maxCreditsPerDay: args.optionalInteger("max-credits-per-day"),
      maxCreditsPerMonth: args.optionalInteger("max-credits-per-month"),
    });
    return { ...key, created: true };
  },
  "key list": async ({ db }, args) => listKeys(db, (await accountByHandle(db, args.text("account"))).id),
  "key revoke": async ({ db }, args) => {
    const account = await accountByHandle(db, args.text("account"));
    await revokeKey(db, account.id, args.text("id"));
    return { id: args.text("id"), revoked: true };
  },
  "credits grant": async ({ db }, args) => {
    const account = await accountByHandle(db, args.text("account"));
    const amount = args.integer("credits");
    if (amount < 1 || amount > 1_000_000_000) throw new UsageError("--credits must be between 1 and 1000000000");
    const wanted = { accountId: account.id, credits: credits(BigInt(amount)), reference: args.optional("reference") };
    const granted = await inTransaction(db, async (tx) => {
      await lockUnclosedAccount(tx, account);
      return grant(tx, { ...wanted, note: actText(args, "note") });
    });
    if (!granted) await requireGranted(db, wanted);
    return { account: account.handle, credits: amount, granted, already_granted: !granted };
  },
  "ledger prove": async ({ db }) => proveLedger(db),
  "wallet add": async ({ db }, args) => {
    const account = await accountByHandle(db, args.text("account"));
    const [network, address, checked] = [args.text("network"), args.text("address"), !args.flag("unchecked")];
    return addPayoutWallet(db, { accountId: account.id, network, address, checked });
  },
  "agent check": async (needs, args) => withFile(needs, args, async ({ address }) => ({ agent: address, problems: 0 })),
  "agent draft": async (needs, args) =>
    withFile(needs, args, ({ owner, slug, definition }) => saveDraft(needs, owner, slug, definition)),
  "agent publish": async (needs, args) =>
    withFile(needs, args, ({ owner, slug, definition }) => publishAgent(needs, owner, slug, definition)),
  "agent list": async ({ db }, args) => {
    const agents = await listOwnAgents(db, (await accountByHandle(db, args.text("account"))).id);
    return agents.map(({ handle, slug, state, name, connector, priceCredits, liveVersion, newestVersion }) => {
      const versions = { live_version: state === "live" ? liveVersion : null, newest_version: newestVersion };
      return { agent: `${handle}/${slug}`, state, name, connector, price_credits: priceCredits, ...versions };
    });
  },
  ...Object.fromEntries(
    agentMoves.map((move) => [
      `agent ${move}`,
      ({ db }: PublishNeeds, args: Arguments) =>
        inTransaction(db, async (tx) => {
          const moved = await moveAgent(tx, args.text("agent"), move);
          const { id: accountId } = await accountByHandle(tx, moved.agent.split("/")[0]!);
          await recordMove(tx, { of: "agent", move, accountId, subject: moved.agent, reason: actText(args, "reason") });
          return moved;
        }),
    ]),
  ),
  "agent budget": async ({ db }, args) => {
    const [handle = "", slug = ""] = args.text("agent").split("/");
    const own = await findOwnAgent(db, (await accountByHandle(db, handle)).id, slug);
    const credits_per_day = args.optionalInteger("credits") ?? null;
    await setModelBudget(db, own.id, credits_per_day);
    return { agent: `${own.handle}/${own.slug}`, model_credits_per_day: credits_per_day ?? "default" };
  },
  "report list": async ({ db }, args) => {
    const limit = args.optionalInteger("limit") ?? 50;
    if (limit < 1 || limit > 1_000) throw new UsageError("--limit must be between 1 and 1000");
    return (await listReports(db, { all: args.flag("all"), limit })).reports;
  },
  "report resolve": async ({ db }, args) => {
    return resolveReport(db, args.text("id"), actText(args, "note"));
  },
  "operator add": async ({ db, sealer }, args) =>
    nameOperator({ db, sealer }, await accountByHandle(db, args.text("account"))),
  "operator remove": async ({ db }, args) => {
    const account = await accountByHandle(db, args.text("account"));
    await removeOperator(db, account);
    return { operator: account.handle, removed: true };
  },
  "operator list": async ({ db }) => listOperators(db),
  seed: async (needs, args) => applySeed(needs, await readYaml(args.text("file"))),
};

/** 409 unless the reference was granted before to the same account, and so much. */
async function requireGranted(db: Database, wanted: Pick<Grant, "accountId" | "credits" | "reference">): Promise<void> {
  const before = await grantedFor(db, wanted.reference ?? "");
  if (before?.accountId === wanted.accountId && before.credits === wanted.credits) return;
  const what = before ? `${before.credits} credits to "${before.handle}"` : "something else";
  throw new ApiError(
    "conflict",
    `The reference "${wanted.reference}" was used before for ${what}; nothing was granted now.`,
  );
}

function actText(args: Arguments, name: "reason" | "note"): string | undefined {
  const text = args.optional(name);
  if (text !== undefined && text.length > actTextMax)
    throw new UsageError(`--${name} must be at most ${actTextMax} characters long`);
  return text;
}

/** Does something with an agent's file whose definition fits together; otherwise says in which lines it does not. */
async function withFile<T>(needs: PublishNeeds, args: Arguments, work: (file: CheckedFile) => Promise<T>): Promise<T> {
  const { handle, slug, definition, refusal } = await readAgentFile(args.text("file"));
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
