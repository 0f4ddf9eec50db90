import { parseArgs } from "node:util";
import { formatUnits } from "../../shared/amounts.ts";
import type { PaymentRequirements, SettleResponse } from "../../shared/x402.ts";
import { loadEnvFile, readSettings } from "./settings.ts";
import { readStackFile, type StackFile } from "./stack-file.ts";

const usage = `Runs agents by key and pays for a call on each chain, against the stack of "npm start".

  npm run demo            tells what happens
  npm run demo -- --json  the same as JSON`;

const input = { text: "The marketplace runs agents. Buyers pay per call. Creators are paid at once." };

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: "boolean" }, help: { type: "boolean", short: "h" } } });
  if (values.help) return void process.stdout.write(`${usage}\n`);
  const tell = (line: string) => void (values.json || process.stdout.write(`${line}\n`));
  loadEnvFile();
  const stack = readStackFile(readSettings(process.env).dataDirectory);
  const byKey = await runByKey(stack, tell);
  const payments = [await payOnHedera(stack, tell), await payOnEvm(stack, tell)];
  const others = await runTheOthers(stack, tell);
  if (values.json) process.stdout.write(`${JSON.stringify({ byKey, payments, others }, undefined, 2)}\n`);
}

type Tell = (line: string) => void;

async function runByKey({ marketplace, demo }: StackFile, tell: Tell) {
  const [agent = ""] = demo.agents;
  const headers = { authorization: `Bearer ${demo.apiKey}`, "content-type": "application/json" };
  const balance = async () => {
    const { credits } = await json<{ credits: number }>(await fetch(`${marketplace}/api/v1/balance`, { headers }), 200);
    return credits;
  };
  tell(`1. Run ${agent} with an API key`);
  const before = await balance();
  tell(`   Balance before: ${before} credits`);
  const run = await runAgent(marketplace, headers, agent, input);
  tell(`   Answer: ${shortened(run.output)}`);
  const after = await balance();
  tell(`   Balance after:  ${after} credits (the run took ${run.credits_used})\n`);
  return { agent, creditsBefore: before, creditsAfter: after, creditsUsed: run.credits_used, output: run.output };
}

async function runAgent(marketplace: string, headers: Record<string, string>, agent: string, input: object) {
  const body = JSON.stringify({ agent, input });
  const run = await json<Run>(await fetch(`${marketplace}/api/v1/run`, { method: "POST", headers, body }), 200);
  if (!run.success) throw new Error(`The run of ${agent} failed: ${run.error}`);
  return run;
}

/** Each with the examples that its creator gave, as its page has them in its form; so the website has something to show. */
async function runTheOthers({ marketplace, demo }: StackFile, tell: Tell) {
  const headers = { authorization: `Bearer ${demo.apiKey}`, "content-type": "application/json" };
  tell("4. Run the other agents with the key, each with its own example");
  const runs: Array<{ agent: string; creditsUsed: number }> = [];
  for (const agent of demo.agents.slice(1)) {
    const { inputs } = await json<AgentDetail>(await fetch(`${marketplace}/api/v1/agents/${agent}`, { headers }), 200);
    const given = inputs.filter(({ example }) => example !== null).map(({ name, example }) => [name, example]);
    const run = await runAgent(marketplace, headers, agent, Object.fromEntries(given));
    tell(`   ${agent.padEnd(20)} ${run.credits_used} credits  ${shortened(run.output, 80)}`);
    runs.push({ agent, creditsUsed: run.credits_used });
  }
  tell(`   What the pages say of them now: ${marketplace}/explore`);
  return runs;
}

async function payOnHedera(stack: StackFile, tell: Tell) {
  const { hedera, demo } = stack;
  const { signHederaPayment } = await import("./pay-hedera.ts");
  return pay(stack, tell, {
    title: "2. Pay for one call on Hedera, without an account",
    network: hedera.network,
    sign: (entry) => signHederaPayment(entry, demo.buyer.hedera, Object.values(hedera.nodes)),
    balanceOf: async (account) => {
      const url = `${hedera.mirror}/api/v1/accounts/${account}/tokens?token.id=${hedera.usdc}`;
      const { tokens } = await json<{ tokens: Array<{ balance: number }> }>(await fetch(url), 200);
      return BigInt(tokens[0]?.balance ?? 0);
    },
    see: (transaction) => {
      const [account, time = ""] = transaction.split("@");
      return `curl -s '${hedera.mirror}/api/v1/transactions/${account}-${time.replace(".", "-")}'`;
    },
  });
}

async function payOnEvm(stack: StackFile, tell: Tell) {
  const { evm, demo } = stack;
  const { createPublicClient, erc20Abi, http } = await import("viem");
  const { signEvmPayment } = await import("./pay-evm.ts");
  const client = createPublicClient({ transport: http(evm.rpc) });
  return pay(stack, tell, {
    title: "3. Pay for one call on an EVM chain, without an account",
    network: evm.network,
    sign: (entry) => signEvmPayment(entry, demo.buyer.evm.privateKey),
    balanceOf: (account) => {
      const args = [account as `0x${string}`] as const;
      return client.readContract({ abi: erc20Abi, address: evm.usdc, functionName: "balanceOf", args });
    },
    see: (transaction) => {
      const call = { jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [transaction] };
      return `curl -s -H 'Content-Type: application/json' -d '${JSON.stringify(call)}' '${evm.rpc}'`;
    },
  });
}

/** Quote, sign, pay, and show that the same proof buys nothing a second time. */
async function pay({ marketplace, facilitator, demo }: StackFile, tell: Tell, chain: Chain) {
  const [agent = ""] = demo.agents;
  const url = `${marketplace}/api/agent/${agent}`;
  const post = (headers: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(input),
    });
  tell(`${chain.title} (${chain.network})`);

  const asked = await post();
  const quote = decode<Quote>(asked.headers.get("payment-required"));
  if (asked.status !== 402 || !quote) throw new Error(`${url} answered ${asked.status} instead of a quote.`);
  const entry = quote.accepts.find(({ network }) => network === chain.network);
  if (!entry) throw new Error(`${agent} cannot be paid for on ${chain.network}.`);
  tell(`   Asked without payment: 402, ${dollars(BigInt(entry.amount))} to the creator's wallet ${entry.payTo}`);

  const before = await chain.balanceOf(entry.payTo);
  tell(`   The creator's wallet before: ${dollars(before)}`);
  const payload = await chain.sign(entry);
  const proof = encode({
    x402Version: 2,
    resource: quote.resource,
    accepted: entry,
    payload,
    extensions: quote.extensions,
  });
  const paid = await post({ "payment-signature": proof });
  const { output } = await json<Run>(paid, 200);
  const settled = decode<SettleResponse>(paid.headers.get("payment-response"));
  if (!settled?.success) throw new Error(`The answer came without a settlement: ${JSON.stringify(settled)}`);
  tell(`   Paid and answered: ${shortened(output)}`);
  const after = await changed(() => chain.balanceOf(entry.payTo), before);
  tell(`   The creator's wallet after:  ${dollars(after)}`);
  tell(`   Transaction: ${settled.transaction}`);
  const page = `${facilitator}/tx/${encodeURIComponent(settled.transaction)}`;
  tell(`   Open its page:        ${page}`);
  tell(`   See it on the chain:  ${chain.see(settled.transaction)}`);

  const again = await post({ "payment-signature": proof });
  if (again.ok) throw new Error("The same payment bought a second answer.");
  const { error } = (await again.json()) as { error: string };
  tell(`   The same payment again: ${again.status}, ${error}\n`);
  return {
    network: chain.network,
    agent,
    amount: entry.amount,
    payTo: entry.payTo,
    transaction: settled.transaction,
    creatorBefore: String(before),
    creatorAfter: String(after),
    see: chain.see(settled.transaction),
    page,
    again: { status: again.status, error },
  };
}

interface Chain {
  readonly title: string;
  readonly network: string;
  sign(entry: PaymentRequirements): Promise<object>;
  /** USDC in base units. */
  balanceOf(account: string): Promise<bigint>;
  /** A command that shows the transaction. */
  see(transaction: string): string;
}

interface Quote {
  readonly resource: object;
  readonly extensions: object;
  readonly accepts: readonly PaymentRequirements[];
}

interface AgentDetail {
  readonly inputs: ReadonlyArray<{ readonly name: string; readonly example: unknown }>;
}

interface Run {
  readonly success: boolean;
  readonly output?: { readonly text?: string };
  readonly credits_used: number;
  readonly error?: string;
}

/** A chain's reading side may be some seconds behind what it settled. */
async function changed(read: () => Promise<bigint>, from: bigint): Promise<bigint> {
  for (let waitedMs = 0; waitedMs < 15_000; waitedMs += 250) {
    const now = await read();
    if (now !== from) return now;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error("The payment was settled, but the creator's balance has not changed within 15 s.");
}

async function json<T>(response: Response, expected: number): Promise<T> {
  const text = await response.text();
  if (response.status !== expected) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}

function decode<T>(header: string | null): T | undefined {
  return header === null ? undefined : (JSON.parse(Buffer.from(header, "base64").toString("utf8")) as T);
}

function dollars(amount: bigint): string {
  return `$${formatUnits(amount, 6)}`;
}

function shortened(output: Run["output"], lengthMax = 120): string {
  const text = (output?.text ?? JSON.stringify(output)).replaceAll(/\s+/g, " ");
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}
