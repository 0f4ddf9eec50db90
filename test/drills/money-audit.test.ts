import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { createPublicClient, http } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { usdcStandIn } from "../../infra/local-evm/artifacts.ts";
import { type LocalHedera, startLocalHedera } from "../../infra/local-hedera/local-hedera.ts";
import { type MockModels, startMockModels } from "../../infra/mock-models/server.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { elapse } from "../support/elapse.ts";
import { type EvmSetting, evmSetting } from "../support/evm-facilitator.ts";
import { newBuyer } from "../support/evm-payments.ts";
import { hederaVariables, usdcOf } from "../support/hedera-payments.ts";
import { seedMarket, startMarketplace } from "../support/marketplace.ts";
import { textOf } from "../support/mcp.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { type PaidAnswer, payQuote, post } from "../support/pay-call.ts";
import { Service } from "../support/service.ts";

const payments = 40;
const price = 50_000;
const seed = Number(process.env.AUDIT_SEED ?? 20_261_120);

let setting: EvmSetting;
let ledger: LocalHedera;
let model: MockModels;
let facilitators: Service[];
let marketplaces: Service[];
let address: string;
let marketDb: Database;
let facilitatorDb: Database;
const creatorWallet = newBuyer().address;

beforeAll(async () => {
  [setting, ledger, model] = await Promise.all([
    evmSetting(),
    startLocalHedera({ consensusDelayMs: 20 }),
    startMockModels({ apiKey: "key" }),
  ]);
  const variables = { ...setting.variables, ...hederaVariables(ledger), LIMIT_FAILURES_PER_PAYER: "0" };
  facilitators = await Promise.all([1, 2].map(() => Service.start("facilitator", variables)));
  const seeding = await startMarketplace({ model });
  const market = await seedMarket(seeding.context);
  const wallets = { "eip155:84532": creatorWallet, "hedera:testnet": ledger.accounts.creator.accountId };
  for (const [network, wallet] of Object.entries(wallets)) {
    await addPayoutWallet(seeding.context.db, {
      accountId: market.creator.id,
      network,
      address: wallet,
      checked: true,
    });
  }
  const { environment, databaseUrl } = seeding;
  await seeding.stop();
  address = market.agent.address;
  marketplaces = await Promise.all(
    facilitators.map(({ url }) =>
      Service.start("marketplace", {
        ...environment,
        FACILITATOR_URL: url,
        MARKETPLACE_PUBLIC_URL: "https://market.example.com",
        SMTP_URL: "smtp://127.0.0.1:1",
        MAIL_FROM: "a@example.com",
        RUN_LEASE_MS: "2000",
        LLM_API_KEY: "key",
      }),
    ),
  );
  marketDb = connect(databaseUrl, { poolMax: 2, applicationName: "audit" });
  const facilitatorUrl = setting.variables.FACILITATOR_DATABASE_URL as string;
  facilitatorDb = connect(facilitatorUrl, { poolMax: 2, applicationName: "audit" });
}, 120_000);

afterAll(async () => {
  await Promise.all([...(marketplaces ?? []), ...(facilitators ?? [])].map((service) => service.kill()));
  await Promise.all([marketDb?.end(), facilitatorDb?.end()]);
  await Promise.all([model?.stop(), ledger?.close(), setting?.stop()]);
});

/**
 * Buyers pay on both chains, each payment posted now to one copy of the marketplace, now to the other, sometimes twice
 * at once, while agents fail, the ledger loses answers, and every service is killed and started again.
 */
test("whatever is killed and lost, each payment ends as one of three things, and all books agree to the base unit", async () => {
  const random = generator(seed);
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const routeOf = ({ url }: Service) => `${url}/api/agent/${address}`;
  const ask = (proof?: object): Promise<PaidAnswer | undefined> =>
    post(routeOf(pick(marketplaces)), { body: { text: "hello" }, ...(proof && { proof }) }).catch(() => undefined);

  const quote = await ask();
  const paid = { setting, ledger } as unknown as PaidMarket;
  const proofs: object[] = [];
  for (let made = 0; made < payments; made += 1)
    proofs.push(await payQuote(paid, pick(["evm", "hedera"]), quote as PaidAnswer));

  let attacking = true;
  const attack = (async () => {
    while (attacking) {
      const service = pick([...marketplaces, ...facilitators]);
      await service.kill();
      ledger.faults.set({ dropReply: 1, busy: 1 });
      if (random() < 0.5) model.injectFault({ status: 500 });
      await service.start();
      await elapse(300 + random() * 700, "services die at any moment of a payment");
    }
  })();
  const delivered = new Map<number, number>();
  const submit = async (index: number) => {
    const answers = await Promise.all(Array.from({ length: random() < 0.3 ? 2 : 1 }, () => ask(proofs[index])));
    if (answers.some((answer) => answer?.status === 200)) delivered.set(index, (delivered.get(index) ?? 0) + 1);
  };
  await Promise.all(proofs.map((_, index) => submit(index)));
  await Promise.all(proofs.map((_, index) => submit(index)));
  attacking = false;
  await attack;
  ledger.faults.clear();
  model.clearFaults();

  // Everybody comes back for what is theirs.
  await Promise.all(
    proofs.map((proof, index) =>
      expect
        .poll(
          async () => {
            const answer = await ask(proof);
            if (answer?.status === 200) delivered.set(index, (delivered.get(index) ?? 0) + 1);
            return answer?.status === 200 || (answer?.status === 402 && /already_settled/.test(answer.body.error));
          },
          { timeout: 60_000, interval: 500 },
        )
        .toBe(true),
    ),
  );

  // Each buyer who paid was handed the result at least once, whatever was killed meanwhile.
  expect(delivered.size).toBe(payments);

  // The end of a call is written moments after its answer has left.
  const unfinished = "select 1 from paid_calls where output is null or transaction_id is null or delivered_at is null";
  await expect.poll(async () => (await marketDb.query(unfinished)).rowCount, { timeout: 5_000 }).toBe(0);
  const { rows: calls } = await marketDb.query("select transaction_id from paid_calls");
  const { rows: settled } = await facilitatorDb.query(
    "select network, payment_key, transaction_id, state from payments",
  );
  expect(calls).toHaveLength(payments);
  expect(settled.filter(({ state }) => state === "settled")).toHaveLength(payments);
  const ids = (rows: Array<{ transaction_id: string }>) => rows.map((row) => row.transaction_id).toSorted();
  expect(ids(calls)).toEqual(ids(settled));
  expect(new Set(ids(settled)).size).toBe(payments);

  const onHedera = settled.filter(({ network }) => network === "hedera:testnet").length;
  await expect.poll(() => usdcOf(ledger, ledger.accounts.creator.accountId)).toBe(onHedera * price);
  const client = createPublicClient({ transport: http(setting.chain.rpcUrl) });
  const balance = await client.readContract({
    address: setting.chain.usdc,
    abi: usdcStandIn.abi,
    functionName: "balanceOf",
    args: [creatorWallet],
  });
  expect(Number(balance)).toBe((payments - onHedera) * price);
}, 240_000);

type Told = "result" | "used before" | "ask again" | "no answer";
type Buy = (service: Service, proof: object) => Promise<Told>;

const byCall: Buy = async ({ url }, proof) => {
  const answer = await post(`${url}/api/agent/${address}`, { body: { text: "hello" }, proof }).catch(() => undefined);
  if (!answer) return "no answer";
  if (answer.status === 200) return "result";
  return /already_settled/.test(answer.body.error) ? "used before" : "ask again";
};

const asTool: Buy = async ({ url }, proof) => {
  const client = new Client({ name: "audit", version: "1" });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/x402/mcp`)) as never);
    const call = { name: address.replace("/", "--"), arguments: { text: "hello" }, _meta: { "x402/payment": proof } };
    // The client goes on waiting when the server is gone.
    const answer = (await client.callTool(call, undefined, { timeout: 5_000 })) as CallToolResult;
    if (!answer.isError) return "result";
    return /already_settled/.test(textOf(answer)) ? "used before" : "ask again";
  } catch {
    return "no answer";
  } finally {
    await client.close();
  }
};

test.each([
  ["as calls", byCall],
  ["as tools", asTool],
])(
  "a copy that is killed while it hands results out %s loses none: each is fetched at the other, and paid once",
  async (_, buy) => {
    const [first, second] = marketplaces as [Service, Service];
    const quote = await post(`${first.url}/api/agent/${address}`, { body: { text: "hello" } });
    const buyers = 24;
    const paid = { setting, ledger } as unknown as PaidMarket;
    const proofs: object[] = [];
    for (let made = 0; made < buyers; made += 1) proofs.push(await payQuote(paid, "hedera", quote));
    const before = await usdcOf(ledger, ledger.accounts.creator.accountId);

    let killed: Promise<void> | undefined;
    const told = await Promise.all(
      proofs.map(async (proof) => {
        const answer = await buy(first, proof);
        if (answer === "result") killed ??= first.kill();
        return answer;
      }),
    );
    await killed;
    expect(told).toContain("no answer");

    const fetched = proofs.map(async (proof, index) => {
      for (;;) {
        const answer = await buy(second, proof);
        if (answer !== "ask again")
          return answer === "result" || (answer === "used before" && told[index] === "result");
      }
    });
    expect(await Promise.all(fetched)).toEqual(proofs.map(() => true));
    await expect.poll(() => usdcOf(ledger, ledger.accounts.creator.accountId)).toBe(before + buyers * price);
    await first.start();
  },
  60_000,
);

/** Mulberry32: the same seed, the same schedule. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
