import { YAMLParseError } from "yaml";
import { ConfigError } from "../shared/env.ts";
import { ApiError } from "../shared/errors.ts";
import { BrokenLedgerError } from "./credits/prove.ts";
import { UsageError } from "./operator/arguments.ts";
import { runCommand } from "./operator/command-line.ts";

try {
  process.stdout.write(`${await runCommand(process.argv.slice(2), process.env)}\n`);
} catch (error) {
  const { message, stack, code } = error as NodeJS.ErrnoException;
  const expected = [UsageError, ApiError, ConfigError, YAMLParseError, BrokenLedgerError].some(
    (kind) => error instanceof kind,
  );
  const databaseAway = ["ECONNREFUSED", "ENOTFOUND", "28P01", "28000", "3D000"].includes(code ?? "");
  if (databaseAway) process.stderr.write(`the database of MARKETPLACE_DATABASE_URL cannot be used: ${message}\n`);
  else process.stderr.write(`${expected || code?.startsWith("ERR_PARSE_ARGS") ? message : stack}\n`);
  process.exitCode = 1;
}
