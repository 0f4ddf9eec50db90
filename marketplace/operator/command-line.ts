import { parseArgs } from "node:util";
import { pino } from "pino";
import { prepareSchema } from "../../shared/migrate.ts";
import { createOutbound } from "../../shared/outbound.ts";
import { connect } from "../../shared/postgres.ts";
import { Disposer } from "../../shared/process.ts";
import { accountDirectory } from "../accounts/account-directory.ts";
import { isAgentMove } from "../agents/state.ts";
import { readStoreConfig } from "../config.ts";
import { createPublishTools } from "../connectors/tools.ts";
import { createEvents } from "../events.ts";
import { Metrics } from "../metrics.ts";
import { migrations } from "../migrations/all.ts";
import { createSealer } from "../sealing.ts";
import { Arguments, options, UsageError } from "./arguments.ts";
import { commands, help } from "./commands.ts";

/** Runs the command in the arguments on the database that the environment names, and answers the text to print. */
export async function runCommand(args: string[], environment: Record<string, string | undefined>): Promise<string> {
  const { values, positionals } = parseArgs({ args: spelledOut(args), options, allowPositionals: true });
  const name = positionals.join(" ");
  if (values.help || name === "help" || name === "") return help;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`there is no command "${name}"; see --help`);
  const config = readStoreConfig(environment);
  await prepareSchema("marketplace", { url: config.databaseUrl.reveal(), migrations, migrates: config.migrates });
  const db = connect(config.databaseUrl.reveal(), pool);
  const outbound = createOutbound({ allowHosts: config.outboundAllowHosts });
  const disposer = new Disposer();
  disposer.add(() => db.end());
  disposer.add(() => outbound.stop());
  const tools = createPublishTools({ config, outbound, accounts: accountDirectory(db) }, disposer);
  try {
    const events = createEvents(pino({ level: "silent" }), new Metrics());
    const sealer = createSealer(config.sealingKeys);
    const result = await command({ db, events, sealer, tools }, new Arguments(values));
    return values.json ? JSON.stringify(result, plain).replaceAll(steering, escaped) : readable(result);
  } finally {
    await disposer.stop();
  }
}

/** Names for statements save nothing in so short a time, and some poolers do not know them. */
const pool = { poolMax: 2, statements: "unnamed", applicationName: "marketplace accounts" } as const;

/** `agents publish file.yaml` is short for `agent publish --file file.yaml`. */
function spelledOut(args: string[]): string[] {
  const [noun, verb = "", subject, ...rest] = args;
  if (noun !== "agents") return args;
  if (subject === undefined || subject.startsWith("--")) return ["agent", ...args.slice(1)];
  return ["agent", verb, isAgentMove(verb) ? "--agent" : "--file", subject, ...rest];
}

/** Characters that a terminal takes for commands, but for tabs and line ends: strangers' words are printed, too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

const plain = (_name: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);

function readable(value: unknown, indent = ""): string {
  if (Array.isArray(value)) return value.map((item) => readable(item, indent)).join(`\n${indent}\n`);
  if (typeof value !== "object" || value === null || value instanceof Date) return `${indent}${said(value, indent)}`;
  const lines = Object.entries(value).map(([name, item]) => {
    const nested = typeof item === "object" && item !== null && !(item instanceof Date);
    return nested ? `${indent}${name}:\n${readable(item, `${indent}  `)}` : `${indent}${name}: ${said(item, indent)}`;
  });
  return lines.join("\n");
}

/** A further line of a text stands further in than a name, so that it looks like none. */
function said(value: unknown, indent: string): string {
  if (value instanceof Date) return value.toISOString();
  return String(value ?? "-")
    .replaceAll(steering, "")
    .replaceAll("\n", `\n${indent}  `);
}
