import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createEvents } from "../../facilitator/events.ts";
import { Metrics } from "../../facilitator/metrics.ts";
import { type PaymentRequest, refuse } from "../../facilitator/schemes/scheme.ts";
import { createLog } from "../../shared/log.ts";

test("a caller who names a network of sixty kilobytes writes no such line into the log", () => {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const recorders = { recordRefusal: () => {}, recordReconciled: () => {} };
  const events = createEvents(createLog("facilitator", "info", sink), new Metrics(), recorders);
  const request = { network: `eip155:${"1".repeat(60_000)}` } as PaymentRequest;
  const refusal = refuse("invalid_network", "This network is not supported.");
  events.refused({ kind: "verify", request, payer: "", refusal, totalMs: 1 });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("eip155:1");
  expect(lines[0]?.length).toBeLessThan(500);
});
