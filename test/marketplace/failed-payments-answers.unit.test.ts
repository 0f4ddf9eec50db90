import { expect, test } from "vitest";
import { answerTo } from "../../marketplace/payments/paid-calls/answers.ts";

const failed = { outcome: "failed", error: "It failed.", runId: "run_1" } as const;
const settlement = { success: true, transaction: "0x1", network: "eip155:84532" };

test.for([
  ["again", 503, "5"],
  ["later", 503, "600"],
  ["input", 422, undefined],
] as const)(
  "a run that failed is a 500 where nothing was charged; where its payment is settled and %s helps, a %i",
  ([remedy, status, retryAfter]) => {
    const uncharged = answerTo({ ...failed, remedy }, "Post it");
    expect(uncharged).toMatchObject({ status: 500, headers: {}, body: { success: false, charged: false } });
    const charged = answerTo({ ...failed, remedy, settlement }, "Post it");
    expect(charged).toMatchObject({ status, settlement, body: { success: false, run_id: "run_1", charged: true } });
    expect(charged.headers["retry-after"]).toBe(retryAfter);
    expect(charged.body).toMatchObject({ advice: expect.stringContaining("stays good") });
  },
);
