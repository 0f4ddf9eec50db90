import { expect } from "vitest";
import { inTransaction } from "../../shared/postgres.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { evmTest } from "../support/fixtures.ts";

const test = evmTest({ FACILITATOR_DATABASE_POOL: "8" });

test.for(["/stats?days=365", "/transactions?payer=0x00000000000000000000000000000000000000aa", "/discovery/resources"])(
  "however many read %s at once, and however slowly, payments have their connections",
  async (path, { setting, facilitator }) => {
    const { db } = facilitator.context;
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    await inTransaction(db, async (tx) => {
      await tx.query("lock table daily_settlements, archive_objects, discovery_resources in access exclusive mode");
      const reading = Array.from({ length: 40 }, () => fetch(`${facilitator.url}${path}`).then(() => "read"));
      const settling = facilitator.settle(body).then(({ body: { success } }) => (success ? "settled" : "not settled"));
      expect(await Promise.race([settling, ...reading])).toBe("settled");
      await tx.query("rollback");
      await Promise.all(reading);
    });
  },
);
