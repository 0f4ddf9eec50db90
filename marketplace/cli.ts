import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { parse as parseYaml, YAMLParseError } from "yaml";
import { ConfigError } from "../shared/env.ts";
import { ApiError } from "../shared/errors.ts";
import { connect, migrate } from "../shared/postgres.ts";
import { credits } from "../shared/units.ts";
import { accountByHandle, createAccount, findAccount } from "./accounts/create.ts";
import { addPayoutWallet } from "./accounts/payout-wallets.ts";
import { type Needs as PublishNeeds, publishAgent } from "./agents/publish.ts";
import { agentMoves, moveAgent } from "./agents/state.ts";
import { createKey, type Scope, scopes } from "./api-keys/create.ts";
import { listKeys } from "./api-keys/list.ts";
import { revokeKey } from "./api-keys/revoke.ts";
import { readStoreConfig } from "./config.ts";
import { createOutbound } from "./connectors/outbound.ts";
import { readBalances } from "./credits/balance.ts";
import { grant } from "./credits/ledger.ts";
import { createEvents } from "./events.ts";
import { migrations } from "./migrations/all.ts";
import { createSealer } from "./sealing.ts";
import { applySeed } from "./seed.ts";

const help = `Accounts, keys, credits, wallets and agents of the marketplace, for its operator.

  npm run accounts -- <command> [options]

  account create     --handle <handle> [--if-missing]
  account show       --account <handle>
  key create         --account <handle> --name <name> [--rate-limit <per minute>] [--scope ${scopes.join("|")}]
                     [--if-missing]; prints the key, which cannot be shown again
  key list           --account <handle>
  key revoke         --account <handle> --id <key_…>
  credits grant      --account <handle> --credits <n> [--note <text>] [--reference <text>]
                     a reference is granted once, however often the command is repeated
  wallet add         --account <handle> --network <hedera:testnet|eip155:84532|…> --address <0.0.x|0x…> [--unchecked]
                     without --unchecked you say that you made sure whose wallet it is and that it takes the asset
  agent publish      --file <agent.yaml>
                     its keys: agent (handle/slug), name, description, connector, price_credits, fields,
                     accepts_extra_instructions, settings, secrets
  agent ${agentMoves.join("|")}   --agent <handle/slug>
  seed               --file <seed.yaml>
                     makes all of the above what the file says; repeating it changes nothing. Its shape:
                     accounts: [{handle, credits, keys: [{name, scope, rate_limit_per_minute}],
                                 wallets: [{network, address, checked}], agents: [{slug, …as agent publish}]}]

  --json             prints one JSON document

  Environment: MARKETPLACE_DATABASE_URL; MARKETPLACE_SEALING_KEY where agents have secrets.
`;

const options = {
  account: { type: "string" },
  address: { type: "string" },
  agent: { type: "string" },
  credits: { type: "string" },
  file: { type: "string" },
  handle: { type: "string" },
  help: { type: "boolean", short: "h" },
  id: { type: "string" },
  "if-missing": { type: "boolean" },
  json: { type: "boolean" },
  name: { type: "string" },
  network: { type: "string" },
  note: { type: "string" },
  "rate-limit": { type: "string" },
  reference: { type: "string" },
  scope: { type: "string" },
  unchecked: { type: "boolean" },
} as const;

type Options = Partial<Record<keyof typeof options, string | boolean>>;
type Command = (needs: PublishNeeds, given: Given) => Promise<unknown>;

const commands: Record<string, Command> = {
  "account create": async ({ db }, given) => {
    const handle = given.text("handle");
    const existing = given.flag("if-missing") ? await findAccount(db, handle) : undefined;
    return existing ? { ...existing, created: false } : { ...(await createAccount(db, { handle })), created: true };
  },
  "account show": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    const [balance] = await readBalances(db, [account.id]);
    const { credits, held, earned } = balance!;
    return { ...account, credits, held, earned };
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
  "wallet add": async ({ db }, given) => {
    const account = await accountByHandle(db, given.text("account"));
    const [network, address, checked] = [given.text("network"), given.text("address"), !given.flag("unchecked")];
    return addPayoutWallet(db, { accountId: account.id, network, address, checked });
  },
  "agent publish": async (needs, given) => {
    const { agent, ...definition } = await readYaml(given.text("file"));
    const [handle, slug, rest] = typeof agent === "string" ? agent.split("/") : [];
    if (!handle || !slug || rest) throw new UsageError('"agent" must be handle/slug');
    return publishAgent(needs, await accountByHandle(needs.db, handle), slug, definition);
  },
  ...Object.fromEntries(
    agentMoves.map((move) => [
      `agent ${move}`,
      ({ db }: PublishNeeds, given: Given) => moveAgent(db, given.text("agent"), move),
    ]),
  ),
  seed: async (needs, given) => applySeed(needs, await readYaml(given.text("file"))),
};

/** Reads options by name and says which one is missing or wrong. */
class Given {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  optional(name: keyof Options): string | undefined {
    const value = this.#options[name];
    return typeof value === "string" ? value : undefined;
  }

  text(name: keyof Options): string {
    const value = this.optional(name);
    if (!value) throw new UsageError(`--${name} is required`);
    return value;
  }

  flag(name: keyof Options): boolean {
    return this.#options[name] === true;
  }

  optionalInteger(name: keyof Options): number | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,15}$/.test(value)) throw new UsageError(`--${name} must be a whole number`);
    return Number(value);
  }

  integer(name: keyof Options): number {
    this.text(name);
    return this.optionalInteger(name)!;
  }

  optionalChoice<T extends string>(name: keyof Options, allowed: readonly T[]): T | undefined {
    const value = this.optional(name);
    if (value === undefined || allowed.includes(value as T)) return value as T | undefined;
    throw new UsageError(`--${name} must be one of ${allowed.join(", ")}`);
  }
}

class UsageError extends Error {
  override readonly name = "UsageError";
}

async function readYaml(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code})`);
  });
  const value: unknown = parseYaml(text, { maxAliasCount: 100 });
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageError(`${file} must hold a mapping`);
}

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const name = positionals.join(" ");
  if (values.help || name === "help" || name === "") return void process.stdout.write(help);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`there is no command "${name}"; see --help`);
  const config = readStoreConfig(process.env);
  await migrate(config.databaseUrl.reveal(), migrations);
  const db = connect(config.databaseUrl.reveal(), { poolMax: 2, applicationName: "marketplace accounts" });
  const outbound = createOutbound({ allowHosts: config.outboundAllowHosts });
  try {
    const events = createEvents(pino({ level: "silent" }));
    const sealer = createSealer(config.sealingKeys);
    const result = await command({ db, events, sealer, tools: { outbound } }, new Given(values));
    process.stdout.write(`${values.json ? JSON.stringify(result, plain) : readable(result)}\n`);
  } finally {
    await outbound.stop();
    await db.end();
  }
}

const plain = (_name: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);

function readable(value: unknown, indent = ""): string {
  if (Array.isArray(value)) return value.map((item) => readable(item, indent)).join(`\n${indent}\n`);
  if (typeof value !== "object" || value === null || value instanceof Date) return `${indent}${said(value)}`;
  const lines = Object.entries(value).map(([name, item]) => {
    const nested = typeof item === "object" && item !== null && !(item instanceof Date);
    return nested ? `${indent}${name}:\n${readable(item, `${indent}  `)}` : `${indent}${name}: ${said(item)}`;
  });
  return lines.join("\n");
}

const said = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value ?? "-"));

main(process.argv.slice(2)).catch((error) => {
  const expected =
    error instanceof UsageError ||
    error instanceof ApiError ||
    error instanceof ConfigError ||
    error instanceof YAMLParseError;
  const usage = (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS");
  process.stderr.write(`${expected || usage ? (error as Error).message : (error as Error).stack}\n`);
  process.exitCode = 1;
});
