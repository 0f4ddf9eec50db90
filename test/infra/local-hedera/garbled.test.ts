import fc from "fast-check";
import { expect } from "vitest";
import type { LocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { ledgerTest } from "../../support/fixtures.ts";
import { kept, perFile } from "../../support/part.ts";
import { connect, paymentBody, signedPayment } from "./raw.ts";
import { eventually, hbarBalances } from "./sdk.ts";

const test = ledgerTest({ consensusDelayMs: 0 })
  .extend("ledger", perFile, ({ on }) => on.ledger)
  .extend("node", perFile, ({ ledger }, { onCleanup }) => kept(connect(Object.keys(ledger.nodes)[0]!), onCleanup));

test("a node gives every garbled payment an answer, and moves nothing for any of them", async ({ ledger, node }) => {
  const before = await hbarBalances(ledger);
  const unitsBefore = await creatorsUnits(ledger);
  const whole = signedPayment(ledger);
  const garbled = fc
    .array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 })
    .map((edits) => {
      const bytes = Buffer.from(whole);
      for (const [at, difference] of edits) bytes[at] = bytes[at]! ^ difference;
      return bytes;
    })
    .filter((bytes) => !bytes.equals(whole));
  const answers = new Set<string>();
  await fc.assert(
    fc.asyncProperty(garbled, async (bytes) => {
      answers.add(await node.submit(bytes));
    }),
    { numRuns: 1_000, seed: 1 },
  );
  for (const status of answers) expect(status).toMatch(/^[A-Z_]+$/);
  expect(answers).toContain("INVALID_SIGNATURE");
  expect(answers).toContain("TRANSACTION_HAS_UNKNOWN_FIELDS");
  // Consensus runs in order: when this whole one is through, so is whatever was accepted before it.
  const last = paymentBody(ledger);
  expect(await node.submit(signedPayment(ledger, last))).toBe("OK");
  await eventually(() => node.receipt(last.transactionID!)).toBe("SUCCESS");
  expect(await creatorsUnits(ledger)).toBe(unitsBefore + 1);
  // With the payer's part garbled but not the fee payer's, the id is used up and the fee due, once: $0.0011 at 12 cents,
  // beside the whole one's.
  const paid = before.get("0.0.1001")! - (await hbarBalances(ledger)).get("0.0.1001")!;
  expect(paid).toBeLessThanOrEqual(2n * 916_667n);
});

const creatorsUnits = async (ledger: LocalHedera): Promise<number> => {
  const response = await fetch(`${ledger.mirrorUrl}/api/v1/accounts/0.0.1002/tokens`);
  return Number(/"balance":(\d+)/.exec(await response.text())?.[1]);
};
