import type { AgentMarketplace, ChargingOptions, PayOptions, SignedPayment } from "../agent-marketplace.ts";
import { agentPath } from "../agent-path.ts";
import { dollarsOf } from "../payments/price.ts";
import { numberOf, type OptionName, type Options, UsageError } from "./arguments.ts";
import { draw, drawingTakes } from "./drawings.ts";
import { readInputs } from "./inputs.ts";
import { checkWritable, say, sayDrawing, sayJson, sayOutput, tell } from "./output.ts";

/** What a command is given. */
export interface Given {
  readonly market: AgentMarketplace;
  readonly words: readonly string[];
  readonly options: Options;
  /** How the calls are made. */
  readonly call: ChargingOptions & PayOptions;
}

export interface Command {
  /** Its options besides those of all commands. */
  takes(words: readonly string[], options: Options): readonly OptionName[];
  run(given: Given): Promise<void>;
}

export const commands: Readonly<Record<string, Command>> = {
  search: {
    takes: () => ["limit", "category", "max-price", "free", "per-call"],
    run: async ({ market, words, options, call }) => {
      const limit = numberOf("limit", options) ?? 10;
      const query = {
        limit,
        ...(words.length > 0 && { q: words.join(" ") }),
        ...(options.category !== undefined && { category: options.category }),
        ...(options.free && { free: true }),
        ...(options["per-call"] && { per_call: true }),
        max_price: numberOf("max-price", options),
      } as Parameters<typeof market.list>[0];
      const page = await market.list(query, call).first();
      if (options.json) return sayJson(page);
      for (const { agent, price_credits: price, name, description } of page.agents) {
        say(`${agent}\t${price === 0 ? "free" : creditsText(price)}\t${name}: ${description.replaceAll(/\s+/g, " ")}`);
      }
      if (page.agents.length === 0) tell("No agent was found.");
    },
  },

  show: {
    takes: () => [],
    run: async ({ market, words, options, call }) => {
      const agent = await market.detail(agentIn(words), call);
      if (options.json) return sayJson(agent);
      say(`${agent.agent}  ${agent.name}: ${agent.description}`);
      say(`${creditsText(agent.price_credits)} a run; answers with ${agent.output_kind}`);
      for (const { name, type, required, default: fallback, choices, description } of agent.inputs) {
        const need = required && fallback === null ? "required" : "optional";
        const allowed = choices === null ? "" : ` (${choices.join(", ")})`;
        say(`  ${name}  ${type}${allowed}, ${need}${description === null ? "" : `: ${description}`}`);
      }
    },
  },

  balance: {
    takes: () => [],
    run: async ({ market, options, call }) => {
      const balance = await market.balance(call);
      if (options.json) return sayJson(balance);
      say(String(balance.credits));
    },
  },

  run: {
    takes: () => ["input", "max-credits", "idempotency-key"],
    run: async ({ market, words, options, call }) => {
      const agent = agentIn(words);
      const input = await readInputs(words.slice(1), options.input);
      const max_credits = numberOf("max-credits", options);
      const run = await market.run({ agent, input, ...(max_credits !== undefined && { max_credits }) }, call);
      if (options.json) return sayJson(run);
      sayOutput(run.output);
      if (!options.quiet) tell(`${creditsText(run.credits_used)}; ${run.credits_remaining} left`);
    },
  },

  pay: {
    takes: () => ["input", "max-usd", "network", "purchase"],
    run: async ({ market, words, options, call }) => {
      const { "max-usd": max_usd, network } = options;
      if (max_usd === undefined) throw new UsageError("Say what it may cost at most: --max-usd 0.05");
      const agent = agentIn(words);
      const input = await readInputs(words.slice(1), options.input);
      const paid = await market.pay.run({ agent, input, max_usd, network }, call);
      if (options.json) return sayJson(paid);
      sayOutput(paid.output);
      if (!options.quiet) tell(paid.payment ? paidText(paid.payment) : "It is free.");
    },
  },

  svg: {
    takes: drawingTakes,
    run: async ({ market, words, options, call }) => {
      if (options.out !== undefined) await checkWritable(options.out);
      await sayDrawing(await draw(market, words, options, call), options);
    },
  },
};

export function paidText({ amount, network, transaction, payTo }: Paid): string {
  const where = transaction === undefined ? "" : `: ${transaction}`;
  return `${dollarsOf(BigInt(amount))} USDC to ${payTo} on ${network}${where}`;
}

const creditsText = (credits: number) => `${credits} ${credits === 1 ? "credit" : "credits"}`;

type Paid = Pick<SignedPayment, "amount" | "network" | "payTo"> & { readonly transaction?: string };

function agentIn([agent]: readonly string[]): string {
  if (agent === undefined) throw new UsageError("Name the agent: handle/slug");
  agentPath(agent);
  return agent;
}
