import { describe, expect, test } from "vitest";
import { JobRecord } from "../../shared/job-record.ts";
import { marketTest, paidTest } from "../support/fixtures.ts";
import { type Answer, call } from "../support/marketplace.ts";

const withFacilitator = paidTest();
const alone = marketTest();

describe("GET /api/v1/status", () => {
  withFacilitator(
    "says of both services, every network and fee payer, and every job that they are well",
    async ({ paid }) => {
      let answer: Answer | undefined;
      const ask = async () => {
        answer = await call(paid.marketplace.url, "/api/v1/status");
        return answer;
      };
      // What stood still for seconds is said to be late, or not to answer, until it is asked anew.
      await expect
        .poll(ask, { interval: 500 })
        .toMatchObject({ status: 200, body: { status: "ok", database: true, facilitator: true } });
      const { body } = answer!;
      expect(body.networks).toMatchObject([
        { network: "eip155:84532", settling: true, fee_payers: [{ address: paid.setting.signer, state: "ok" }] },
        { network: "hedera:testnet", settling: true, fee_payers: [{ state: "ok", unit: "HBAR" }] },
      ]);
      expect(body.jobs.length).toBeGreaterThan(8);
      expect(new Set(body.jobs.map(({ state }: { state: string }) => state))).toEqual(new Set(["ok"]));
    },
  );

  withFacilitator("asks the facilitator once, however many ask for it", async ({ paid }) => {
    let asked = 0;
    const { facilitator } = paid.marketplace.context;
    const health = facilitator.health.bind(facilitator);
    facilitator.health = () => {
      asked += 1;
      return health();
    };
    await Promise.all(Array.from({ length: 50 }, () => call(paid.marketplace.url, "/api/v1/status")));
    expect(asked).toBeLessThanOrEqual(1);
  });
});

describe("with a facilitator that does not answer", () => {
  alone("part of it is said not to work, and the answer is still a 200", async ({ market }) => {
    const { status, body } = await call(market.url, "/api/v1/status");
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "degraded", database: true, facilitator: false, networks: [] });
  });

  alone("the page says the same", async ({ market }) => {
    const page = await fetch(`${market.url}/status`, { headers: { accept: "text/html" } });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("does not answer: payments cannot be taken");
  });
});

describe("a job's record", () => {
  const minute = 60_000;

  test("is ok from the start, late when none has ended for long, and ok again when one has", () => {
    const record = new JobRecord();
    record.begun("job", minute, 0);
    expect(record.read(minute)[0]).toMatchObject({ name: "job", state: "ok" });
    expect(record.read(10 * minute)[0]).toMatchObject({ state: "late" });
    record.ended("job", "done", 10 * minute);
    expect(record.read(11 * minute)[0]).toMatchObject({ state: "ok", lastEndedAt: new Date(10 * minute) });
  });

  test("is failing from a run that failed until one has not", () => {
    const record = new JobRecord();
    record.begun("job", minute, 0);
    record.ended("job", "failed", 1);
    expect(record.read(2)[0]).toMatchObject({ state: "failing" });
    record.ended("job", "done", 3);
    expect(record.read(4)[0]).toMatchObject({ state: "ok" });
  });
});
