import { expect } from "vitest";
import { inTransaction } from "../../../shared/postgres.ts";
import { appTest } from "../../support/fixtures.ts";

const test = appTest();

test("a reservation whose effect is just being written down keeps no other from being extended", async ({
  context,
}) => {
  const { reservations, db } = context;
  for (const key of ["being written down", "waiting"]) await reservations.announce(key, key);
  await db.query("update reservations set until = now() + interval '10 seconds'");
  await inTransaction(db, async (tx) => {
    await tx.query("select from reservations where holder = 'being written down' for update");
    await reservations.extend();
  });
  const { rows } = await db.query("select holder from reservations where until > now() + interval '30 seconds'");
  expect(rows).toEqual([{ holder: "waiting" }]);
});
