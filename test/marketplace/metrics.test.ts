import { expect } from "vitest";
import { marketTest } from "../support/fixtures.ts";
import { call, run } from "../support/marketplace.ts";

const test = marketTest({ env: { METRICS_TOKEN: "the operator's token" } });

test("the operator's token shows what was answered, run and waited for; nobody else sees a figure", async ({
  market,
  seeded,
}) => {
  expect((await run(market, seeded.key, seeded.agent.address)).status).toBe(200);
  expect((await run(market, seeded.key, "nobody/nothing")).status).toBe(404);
  for (const key of [undefined, "another token"]) {
    expect(await call(market.url, "/metrics", key === undefined ? {} : { key })).toMatchObject({ status: 401 });
  }
  const shown = () => call(market.url, "/metrics", { key: "the operator's token" });
  expect((await shown()).status).toBe(200);
  const lines = [
    'marketplace_answers_total{operation="runAgent",status="200"} 1',
    'marketplace_answers_total{operation="runAgent",status="404"} 1',
    'marketplace_answer_seconds_count{operation="runAgent"} 2',
    'marketplace_connector_runs_total{connector="llm",outcome="succeeded"} 1',
    'marketplace_runs_total{state="succeeded"} 1',
    'marketplace_job_troubled{task="count runs"} 0',
    "marketplace_runs_running 0",
    "marketplace_debts 0",
    // The tests' database writes nothing to its disk, and says so.
    'database_failover_may_lose{declared="single",seen="not_on_disk"} 1',
  ];
  await expect.poll(async () => (await shown()).text.split("\n")).toEqual(expect.arrayContaining(lines));
});
