import { z } from "zod";
import { jsonAnswer } from "../../shared/endpoint.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleTime } from "../http/examples.ts";
import { moment } from "../http/shapes.ts";
import type { ServiceStatus } from "./service-status.ts";

const statusShape = z
  .object({
    status: z
      .enum(["ok", "degraded", "down"])
      .describe("`down`: nothing works. `degraded`: something less than all of it works."),
    database: z.boolean(),
    facilitator: z.boolean().describe("Whether it answers."),
    networks: z.array(
      z
        .object({
          network: z.string(),
          settling: z.boolean().describe("Whether payments settle there now."),
          fee_payers: z.array(
            z.object({
              address: z.string(),
              state: z.enum(["ok", "low", "empty", "not_read"]),
              balance: z.number().nullable().describe("In whole units; null while the chain cannot be read."),
              unit: z.string(),
            }),
          ),
        })
        .meta({ id: "NetworkStatus" }),
    ),
    jobs: z.array(
      z
        .object({
          name: z.string(),
          state: z.enum(["ok", "failing", "late"]),
          last_ended_at: moment,
        })
        .meta({ id: "JobStatus" }),
    ),
    time: moment,
  })
  .meta({ id: "Status" });

/** Declared for programs; people read it at /status. */
export function statusEndpoint({ status }: { readonly status: ServiceStatus }): Endpoint {
  const feePayer = { address: "0.0.1001", state: "ok" as const, balance: 120.5, unit: "HBAR" };
  return {
    method: "get",
    path: "/api/v1/status",
    id: "getStatus",
    tag: "Service",
    summary: "How both services are: database, background jobs, facilitator, networks and their fee payers.",
    description:
      "Answers what this service has seen within the last seconds, and always with 200; `getReadiness` is for load balancers. " +
      "Jobs are those of the copy that answers.",
    access: "public",
    answers: {
      200: jsonAnswer(statusShape, {
        status: "ok",
        database: true,
        facilitator: true,
        networks: [{ network: "hedera:testnet", settling: true, fee_payers: [feePayer] }],
        jobs: [{ name: "recover lost runs", state: "ok", last_ended_at: exampleTime }],
        time: exampleTime,
      }),
    },
    handler: async (_request, response) => {
      const { networks, jobs, time, ...rest } = await status.read();
      response.json({
        ...rest,
        networks: networks.map(({ feePayers, ...network }) => ({ ...network, fee_payers: feePayers })),
        jobs: jobs.map(({ name, state, lastEndedAt }) => ({ name, state, last_ended_at: lastEndedAt.toISOString() })),
        time: time.toISOString(),
      });
    },
  };
}
