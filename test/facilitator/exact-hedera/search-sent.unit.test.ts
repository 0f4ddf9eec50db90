import { expect, test } from "vitest";
import { SentSearch } from "../../../facilitator/schemes/exact-hedera/search-sent.ts";
import type { Found, SearchedRange, SearchLog } from "../../../facilitator/schemes/scheme.ts";

const feePayer = "0.0.1001";
const asset = "0.0.429274";
const startSeconds = 1_772_443_800;

/** A transfer of ours, that many seconds after the start. */
const record = (second: number) => ({
  transaction_id: `${feePayer}-${startSeconds + second}-000000001`,
  consensus_timestamp: `${startSeconds + second}.000000002`,
  ...{ nonce: 0, scheduled: false, result: "SUCCESS", name: "CRYPTOTRANSFER" },
  ...{ valid_duration_seconds: "120", charged_tx_fee: 5 },
  transfers: [
    { account: feePayer, amount: -5 },
    { account: "0.0.98", amount: 5 },
  ],
  token_transfers: [
    { token_id: asset, account: "0.0.1003", amount: -7 },
    { token_id: asset, account: "0.0.1004", amount: 7 },
  ],
});

test("all of what was settled is found on a mirror that gives fewer records at once than it is asked for", async () => {
  const all = Array.from({ length: 60 }, (_, second) => record(second + 1));
  const mirror = {
    executed: async () => [],
    seenUntilMs: async () => (startSeconds + 1_000) * 1_000,
    get: async (path: string) => {
      const after = Number(/timestamp=gt:([\d.]+)/.exec(path)?.[1]);
      const left = all.filter(({ consensus_timestamp: at }) => Number(at) > after);
      const next = left.length > 25 ? "/api/v1/transactions?timestamp=gt:…" : null;
      return { transactions: left.slice(0, 25), links: { next } };
    },
  };
  let until = BigInt(startSeconds) * 1_000_000_000n;
  const found: string[] = [];
  const log: SearchLog = {
    marks: async () => [{ feePayer, until, nextNonce: undefined }],
    begin: async () => {},
    moveOn: async () => new Set(),
    onRecord: async () => new Set(),
    conclude: async (_network: string, range: SearchedRange, { settlements }: Found) => {
      found.push(...settlements.map(({ transaction }) => transaction));
      until = range.to.until;
      return true;
    },
  };
  const config = { network: "hedera:testnet", assets: [asset], feePayers: [] };
  const search = new SentSearch({ mirror, config });
  const running = new AbortController().signal;
  for (let n = 0; n < 2; n += 1) await search.search(log, [feePayer], running);
  expect(found).toEqual(all.map((_, second) => `${feePayer}@${startSeconds + second + 1}.000000001`));
  expect(until).toBe(BigInt(startSeconds + 1_000) * 1_000_000_000n);
});
