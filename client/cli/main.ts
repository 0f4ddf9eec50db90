import { AgentMarketplace, type Retry, type SignedPayment } from "../agent-marketplace.ts";
import { version } from "../version.ts";
import { everywhere, numberOf, type Options, readArguments, refuseOthers, UsageError } from "./arguments.ts";
import { commands, paidText } from "./commands.ts";
import { tellFailure } from "./failures.ts";
import { help } from "./help.ts";
import { say, tell } from "./output.ts";
import { PaymentFiles } from "./payment-files.ts";
import { walletsIn } from "./wallets.ts";

async function main(given: readonly string[]): Promise<number> {
  const { options, words } = readArguments(given);
  const [name, ...rest] = words;
  if (options.version) {
    say(version);
    return 0;
  }
  if (options.help || name === undefined) {
    say(help);
    return options.help ? 0 : 2;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`There is no command "${name}"; --help lists them.`);
  refuseOthers(options, [...everywhere, ...command.takes(rest, options)], name);
  const market = await marketFor(options, name === "pay" || options["max-usd"] !== undefined);
  await command.run({ market, words: rest, options, call: callFor(options) });
  return 0;
}

async function marketFor(options: Options, isPaidByWallet: boolean): Promise<AgentMarketplace> {
  const { url: baseUrl, key, quiet } = options;
  if (!baseUrl && !process.env.AGENT_MARKETPLACE_URL) {
    throw new UsageError("Say where the marketplace is: --url https://…, or AGENT_MARKETPLACE_URL.");
  }
  const seconds = Number(options.timeout ?? 300);
  if (!(seconds > 0)) throw new UsageError("--timeout must be a number of seconds.");
  return new AgentMarketplace({
    baseUrl,
    key,
    timeoutMs: seconds * 1_000,
    maxRetries: numberOf("retries", options),
    ...(!quiet && { onRetry: tellRetry }),
    ...(isPaidByWallet && {
      wallets: await walletsIn(process.env),
      store: quiet ? new PaymentFiles() : new ToldPayments(),
    }),
  });
}

class ToldPayments extends PaymentFiles {
  override async save(payment: SignedPayment): Promise<void> {
    await super.save(payment);
    tell(`Signed ${paidText(payment)}`);
  }
}

/** The first interruption gives up waiting and says how to go on; a second ends the program. */
function callFor(options: Options) {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort(new Error("Interrupted.")));
  return { signal: stop.signal, idempotencyKey: options["idempotency-key"], purchase: options.purchase };
}

function tellRetry({ waitMs, status }: Retry): void {
  const why = status === undefined ? "No answer" : `The service answered ${status}`;
  tell(`${why}; the same request is sent again in ${(waitMs / 1_000).toFixed(1)} s.`);
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The program that reads has read enough.
  if (error.code === "EPIPE") process.exit();
  tell(`Standard output cannot be written: ${error.message}. What is missing there may have been charged.`);
  process.exit(5);
});
process.exitCode = await main(process.argv.slice(2)).catch(tellFailure);
