import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { jsonAnswer } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import { accountOf, sessionOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleTime } from "../http/examples.ts";
import { anyObject, moment } from "../http/shapes.ts";
import { exportAccount } from "./export.ts";

const exportsPerMinute = 2;

const exportShape = z
  .looseObject({
    made_at: moment,
    account: z.object({ id: z.string(), handle: z.string(), email: z.string().nullable() }),
    keys: z.array(anyObject).describe("Without the keys themselves."),
    wallets: z.array(anyObject),
    agents: z.array(anyObject),
    agent_versions: z.array(anyObject).describe("Those that are kept of each agent, without their secrets."),
    runs: z.array(anyObject).describe("With input and output, as long as they are kept."),
    statement: z.array(anyObject).describe("Newest first."),
    statement_are_cut_at: z.int().optional().describe("Only where the statement has more postings than are in here."),
  })
  .meta({ id: "Export" });

/** A copy of all that the service keeps of an account. */
export function exportEndpoint({ db }: { readonly db: Database }): Endpoint {
  const example = {
    made_at: exampleTime,
    account: { id: "acc_01k8q3v5w7x9z1b3d5f7h9j1k3", handle: "ada", email: null },
  };
  const empty = { keys: [], wallets: [], agents: [], agent_versions: [], runs: [], statement: [] };
  return {
    method: "get",
    path: "/api/account/export",
    id: "exportAccount",
    tag: "Account",
    summary: "A copy of the account's data, as one JSON file.",
    description:
      "At most 100,000 rows of each kind; of one that is cut `<kind>_are_cut_at` says so. What is still being made when the service fails ends in the middle, and is no valid JSON.",
    access: "account",
    answers: { 200: jsonAnswer(exportShape, { ...example, ...empty }) },
    handler: async (_request, response) => {
      const account = accountOf(response);
      await admitOrRefuse(db, `export:${account.id}`, exportsPerMinute);
      response
        .set({ "content-disposition": `attachment; filename="${account.handle}.json"`, "cache-control": "no-store" })
        .type("application/json");
      const text = exportAccount(db, account, sessionOf(response).email ?? null);
      await pipeline(Readable.from(text), response);
    },
  };
}
