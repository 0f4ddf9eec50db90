import { YAMLParseError } from "yaml";
import { ConfigError } from "../shared/env.ts";
import { ApiError } from "../shared/errors.ts";
import { BrokenLedger } from "./credits/prove.ts";
import { runCommand } from "./operator/command-line.ts";
import { UsageError } from "./operator/given.ts";

try {
  process.stdout.write(`${await runCommand(process.argv.slice(2), process.env)}\n`);
} catch (error) {
  const { message, stack, code } = error as NodeJS.ErrnoException;
  const expected = [UsageError, ApiError, ConfigError, YAMLParseError, BrokenLedger].some(
    (kind) => error instanceof kind,
  );
  process.stderr.write(`${expected || code?.startsWith("ERR_PARSE_ARGS") ? message : stack}\n`);
  process.exitCode = 1;
}
