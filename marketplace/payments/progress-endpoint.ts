import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { jsonAnswer } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { type PaymentProgress, progressStates } from "../answers/payment-progress.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { moment } from "../http/shapes.ts";
import { readQuery } from "../query.ts";
import type { PaymentRecordCache } from "./facilitator/payment-record-cache.ts";
import type { PaidCalls } from "./paid-calls/store.ts";
import { paymentProgress, progressQuery } from "./progress.ts";
import { examplePaid } from "./shapes.ts";

const progressShape = covering<PaymentProgress>()(
  z
    .object({
      network: z.string(),
      state: z
        .enum(progressStates)
        .describe(
          "`unseen`: no call was begun with it here. `verified`: nothing is done about it now; post the same payment to go " +
            "on. `running`: a post of it is at work. `settling`: its money is on its way. `unknown`: its end was not seen; " +
            "do not pay again. `settled` and `failed` are ends.",
        ),
      ran: z
        .boolean()
        .describe(
          "The agent has given a result; the same payment fetches it once it is settled and until it was delivered.",
        ),
      delivered: z
        .boolean()
        .describe(
          "The result was handed out: the same payment fetches it no more, and is not to be paid anew. If it did not arrive, the wallet " +
            "that paid has it once more: the answer to the same payment says what it signs.",
        ),
      delivered_at: moment.nullable(),
      transaction: z.string().nullable(),
      explorer: z.string().nullable().describe("Where people look the transaction up."),
      verified_at: moment.nullable(),
      claimed_at: moment.nullable().describe("When the facilitator began to settle it."),
      settled_at: moment.nullable().describe("As the facilitator tells it; null where it does not answer, too."),
      can_land_until: moment.nullable().describe("Until then a payment that is not settled can still be."),
    })
    .meta({ id: "PaymentProgress" }),
);

interface ProgressNeeds {
  readonly db: Database;
  readonly paymentRecords: PaymentRecordCache;
  readonly paidCalls: PaidCalls;
}

/** For a page that shows its buyer how the payment goes. */
export function progressEndpoint({ db, paymentRecords: records, paidCalls }: ProgressNeeds): Endpoint {
  return {
    method: "get",
    path: "/api/payments",
    id: "getPaymentProgress",
    tag: "Pay per call",
    summary: "How one payment of a call goes, by what its payer signed.",
    description:
      "Ask again every second or so. It tells the steps and never the result, which the same payment fetches when it is " +
      "posted again.",
    access: "public",
    query: progressQuery,
    exampleQuery: { network: examplePaid.network, payer: `0x${"1b".repeat(20)}`, nonce: `0x${"2c".repeat(32)}` },
    answers: {
      200: jsonAnswer(progressShape, {
        network: examplePaid.network,
        state: "settling",
        ran: true,
        delivered: false,
        delivered_at: null,
        transaction: `0x${"9c".repeat(32)}`,
        explorer: null,
        verified_at: exampleTime,
        claimed_at: exampleTime,
        settled_at: null,
        can_land_until: "2026-03-02T09:33:00.000Z",
      }),
      ...refusals(429),
    },
    handler: async (request, response) => {
      const asked = readQuery(progressQuery, request.query);
      response.json(await paymentProgress({ db, paidCalls, records }, asked, request.ip ?? ""));
    },
  };
}
