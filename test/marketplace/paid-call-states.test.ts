import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  inStates,
  legalFor,
  nextStep,
  type PaidCallState,
  requireLegal,
  stateOf,
  transitions,
} from "../../marketplace/payments/paid-calls/states.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { freshDatabase } from "../support/postgres.ts";
import { statements } from "../support/statements.ts";

const at = new Date();
const rows = {
  begun: { output: null, transaction: null, deliveredAt: null },
  settled: { output: null, transaction: "tx", deliveredAt: null },
  ran: { output: {}, transaction: null, deliveredAt: null },
  deliverable: { output: {}, transaction: "tx", deliveredAt: null },
  delivered: { output: {}, transaction: "tx", deliveredAt: at },
} as const;
const states = Object.keys(rows) as PaidCallState[];

test("a row's state follows from its transaction, its output and its delivery", () => {
  for (const state of states) expect(stateOf(rows[state])).toBe(state);
});

describe("in SQL", () => {
  let db: Database;
  beforeAll(async () => {
    db = connect(await freshDatabase("marketplace"), { poolMax: 1, statements, applicationName: "test" });
  });
  afterAll(() => db.end());

  const holds = async (condition: string, { output, transaction, deliveredAt }: (typeof rows)[PaidCallState]) => {
    const { rows: answers } = await db.query(
      `select ${condition} as holds from (values ($1::json, $2::text, $3::timestamptz)) call (output, transaction_id, delivered_at)`,
      [output, transaction, deliveredAt],
    );
    return answers[0].holds;
  };

  test("a row is in the state that the code says it is in, and in no other", async () => {
    for (const state of states) {
      for (const row of states) expect(await holds(inStates([state]), rows[row])).toBe(state === row);
    }
  });

  test("only a call that was not delivered is leased, and only one that cost nothing is forgotten", async () => {
    for (const state of states) {
      expect(await holds(legalFor("acquireLease"), rows[state])).toBe(state !== "delivered");
      expect(await holds(legalFor("forget"), rows[state])).toBe(state === "begun");
      expect(await holds(legalFor("discard"), rows[state])).toBe(state === "begun" || state === "ran");
    }
  });
});

test("what can be undone runs before it is settled, what cannot is settled first, and neither is delivered unpaid", () => {
  const steps = (permanent: boolean) => states.map((state) => nextStep(rows[state], { permanent }));
  expect(steps(false)).toEqual(["run", "run", "settle", "deliver", "deliver"]);
  expect(steps(true)).toEqual(["settle", "run", "settle", "deliver", "deliver"]);
});

test("a result is kept once, a transaction is kept once, and no other input is bought once there is a result", () => {
  const allowed = (transition: keyof typeof transitions) =>
    states.filter((state) => {
      try {
        requireLegal(transition, { ...rows[state], by: "buyer" });
        return true;
      } catch {
        return false;
      }
    });
  expect(allowed("keepResult")).toEqual(["begun", "settled"]);
  expect(allowed("keepTransaction")).toEqual(["begun", "ran"]);
  expect(allowed("rebind")).toEqual(["begun", "settled"]);
});

test.for(["crediting", "recording"] as const)("the task of %s begins no call and gives none another input", (by) => {
  expect(() => requireLegal("rebind", { ...rows.begun, by })).toThrow(
    new RegExp(`may not be changed by rebind of ${by}`),
  );
  expect(transitions.begin.by).toEqual(["buyer"]);
});
