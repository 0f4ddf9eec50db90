import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GasPrices } from "../../../facilitator/schemes/exact-evm/gas-prices.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const gwei = 10n ** 9n;
const usualTip = gwei / 1_000n;
const chain = {
  latestBlock: async () => ({ number: 1n, timestampSeconds: 1n, baseFeePerGas: gwei }),
  suggestedTip: async () => 30n * gwei,
};

test.each([
  ["that a node named", "transaction underpriced: gas tip cap 1000000, minimum needed 25000000000", 25n * gwei],
  ["that a node suggested", "transaction underpriced", 30n * gwei],
])("a tip %s is offered for ten minutes, and then the usual one again", async (_, refusal, wanted) => {
  const prices = new GasPrices(chain, 50n * gwei);
  expect(await prices.current()).toMatchObject({ tip: usualTip });
  await prices.raiseTip(refusal);
  expect(await prices.current()).toMatchObject({ tip: wanted, perGas: 2n * gwei + wanted });
  vi.setSystemTime(Date.now() + 599_000);
  expect(await prices.current()).toMatchObject({ tip: wanted });
  vi.setSystemTime(Date.now() + 2_000);
  expect(await prices.current()).toMatchObject({ tip: usualTip, perGas: 2n * gwei + usualTip });
});

test("a tip that may not be offered stops payments for ten minutes, not for good", async () => {
  const prices = new GasPrices(chain, 20n * gwei);
  await prices.raiseTip("transaction underpriced");
  expect(prices.isTooHigh).toBe(true);
  vi.setSystemTime(Date.now() + 601_000);
  await prices.readWhileTooHigh();
  expect(prices.isTooHigh).toBe(false);
});
