import { expect, test } from "vitest";
import { authorizationUsedTopic, transferTopic } from "../../../facilitator/schemes/exact-evm/eip3009.ts";
import { addressWord, word } from "../../../facilitator/schemes/exact-evm/hex.ts";
import { paysAsAgreed, type Receipt } from "../../../facilitator/schemes/exact-evm/transfers.ts";

const address = (digit: string) => `0x${digit.repeat(40)}`;
const [token, otherToken, payer, payTo, stranger] = ["a", "b", "1", "2", "3"].map(address) as [string, ...string[]];
const nonceOf = (number: number) => `0x${word(BigInt(number))}`;

type Log = Receipt["logs"][number];
const use = (number: number, by = payer as string, at = token): Log => ({
  address: at,
  topics: [authorizationUsedTopic, `0x${addressWord(by)}`, nonceOf(number)],
  data: "0x",
});
const transfer = (to = payTo as string, amount = 10_000n, from = payer as string, at = token): Log => ({
  address: at,
  topics: [transferTopic, `0x${addressWord(from)}`, `0x${addressWord(to)}`],
  data: `0x${word(amount)}`,
});
const approval: Log = { address: token, topics: [`0x${"9".repeat(64)}`], data: "0x" };

const pays = (number: number, logs: readonly Log[], status = "0x1") =>
  paysAsAgreed(
    { transactionHash: "0x1", status, blockNumber: "0x1", logs },
    { key: `${token}:${payer}:${nonceOf(number)}`, payTo: payTo as string, amount: 10_000n },
  );

test.each<[string, boolean, Log[]]>([
  ["the use, then its transfer, as Circle's token reports them", true, [use(1), transfer()]],
  ["the transfer, then its use", true, [transfer(), use(1)]],
  [
    "events of other kinds and other tokens between them",
    true,
    [use(1), approval, use(2, payer, otherToken), transfer()],
  ],
  ["the use alone", false, [use(1)]],
  ["the transfer alone", false, [transfer()]],
  ["a transfer to somebody else, then the agreed one beside it", false, [use(1), transfer(stranger), transfer()]],
  ["the agreed one before a use that moved something else", false, [transfer(), use(1), transfer(stranger)]],
  ["less than agreed", false, [use(1), transfer(payTo, 9_999n)]],
  ["from somebody else", false, [use(1), transfer(payTo, 10_000n, stranger)]],
  ["of another token", false, [use(1), transfer(payTo, 10_000n, payer, otherToken)]],
  ["another nonce's", false, [use(2), transfer()]],
  ["another payer's with the same nonce", false, [use(1, stranger), transfer()]],
  ["two uses together and one transfer", false, [use(1), use(2), transfer()]],
  ["no event at all", false, []],
])("%s: %s", (_name, expected, logs) => {
  expect(pays(1, logs)).toBe(expected);
});

test("a transaction that reverted pays nothing, whatever it reported", () => {
  expect(pays(1, [use(1), transfer()], "0x0")).toBe(false);
});

test.each([
  ["use first", (number: number, to: string) => [use(number), transfer(to)]],
  ["transfer first", (number: number, to: string) => [transfer(to), use(number)]],
])("of twenty nonces used at once, those are paid whose own transfer is the agreed one (%s)", (_name, events) => {
  const paid = new Set([3, 4, 17]);
  const logs = Array.from({ length: 20 }, (_, number) => events(number, (paid.has(number) ? payTo : payer) as string));
  const all = logs.flat();
  expect([...Array(20).keys()].filter((number) => pays(number, all))).toEqual([...paid]);
});

test("no transfer counts for two nonces, however uses and transfers are mixed", () => {
  for (let pattern = 0; pattern < 2 ** 8; pattern += 1) {
    let uses = 0;
    const logs = Array.from({ length: 8 }, (_, index) => ((pattern >> index) & 1 ? use(uses++) : transfer()));
    const paid = [...Array(uses).keys()].filter((number) => pays(number, logs)).length;
    expect(paid).toBeLessThanOrEqual(8 - uses);
  }
});
