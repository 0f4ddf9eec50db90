import { afterAll, beforeAll, expect, test } from "vitest";
import { newBuyer, signAuthorization } from "../support/evm-payments.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";
import { type Proof, payQuote, post } from "../support/pay-call.ts";

const perAddress = 5;
const perPayer = 3;

let paid: PaidMarket;
let verified: number;
beforeAll(async () => {
  paid = await startPaidMarket({
    env: { LIMIT_FAILED_PROOFS_PER_ADDRESS: String(perAddress), LIMIT_FAILED_PROOFS_PER_PAYER: String(perPayer) },
  });
  paid.toFacilitator.behave((path) => {
    if (path === "/verify") verified += 1;
    return "pass";
  });
});
afterAll(() => paid?.stop());

const body = { text: "hello" };
const ask = (proof: Proof | undefined, from: string) => post(paid.url, { body, from, ...(proof && { proof }) });
const pay = async () => payQuote(paid, "evm", await ask(undefined, "198.51.100.1"));

/** The payment with a signature that is not its payer's. */
const garbled = (proof: Proof): Proof => ({
  ...proof,
  payload: { ...proof.payload, signature: `0x${"11".repeat(64)}1b` },
});

test("an address that floods with garbage is not asked about any more, and its victim and everybody else still pay", async () => {
  const victim = await pay();
  verified = 0;
  const answers = [];
  for (let count = 0; count < perAddress * 3; count += 1) answers.push(await ask(garbled(victim), "203.0.113.7"));
  expect(answers.map(({ status }) => status)).toEqual([
    ...Array(perAddress).fill(402),
    ...Array(perAddress * 2).fill(429),
  ]);
  expect(Number(answers.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(verified).toBe(perAddress);
  // The garbage named this payer, who did nothing.
  expect((await ask(victim, "198.51.100.2")).status).toBe(200);
  // The quote stays to be had, also from there.
  expect((await ask(undefined, "203.0.113.7")).status).toBe(402);
});

test("a payer whose own payments do not hold is not asked about any more, wherever they come from", async () => {
  const quoted = await pay();
  const terms = { ...paid.setting.terms, payTo: paid.evmWallet, amount: "50000" };
  const proof = { ...quoted, payload: await signAuthorization(newBuyer(), terms) };
  verified = 0;
  const statuses = [];
  for (let count = 0; count < perPayer * 2; count += 1) {
    statuses.push((await ask(proof, `192.0.2.${count}`)).status);
  }
  expect(statuses).toEqual([...Array(perPayer).fill(402), ...Array(perPayer).fill(429)]);
  expect(verified).toBe(perPayer);
  expect((await ask(await pay(), "192.0.2.1")).status).toBe(200);
});

test("a facilitator that is busy is a 503 with its Retry-After, and nobody is charged or told to pay anew", async () => {
  const busy = await startPaidMarket({ facilitatorEnv: { LIMIT_VERIFY_PER_ADDRESS: "1" } });
  try {
    const quote = () => post(busy.url, { body });
    expect((await post(busy.url, { body, proof: await payQuote(busy, "evm", await quote()) })).status).toBe(200);
    const refused = await post(busy.url, { body, proof: await payQuote(busy, "evm", await quote()) });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(5);
    expect(refused.body.error).toMatch(/nothing was charged/);
  } finally {
    await busy.stop();
  }
});
