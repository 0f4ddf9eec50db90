import { hash } from "node:crypto";
import type { Field, Value } from "../agents/contract.ts";
import { type LiveAgent, ownerOf } from "../agents/find.ts";
import type { Context } from "../context.ts";
import { executeRun } from "../runs/execute.ts";
import type { PreparedRun } from "../runs/prepare.ts";
import { openRun } from "../runs/record.ts";
import { atomicPerCredit, type Offer, type PaidWork } from "./offer.ts";

/** A call of an agent, paid straight to its creator. */
export function agentOffer(context: Context, agent: LiveAgent): Offer {
  const { description, priceCredits, contract } = agent.version;
  return {
    product: agent.id,
    url: `${context.config.publicUrl}/api/agent/${agent.address}`,
    description,
    amount: priceCredits * atomicPerCredit,
    wallets: () => {
      ownerOf(agent);
      return agent.wallets;
    },
    input: { schema: contract.jsonSchema, example: exampleOf(contract.fields) },
  };
}

export function agentWork(context: Context, prepared: PreparedRun): PaidWork {
  const { agent } = prepared;
  const { number: agentVersion, priceCredits, permanent, hasEffects } = agent.version;
  const what = { agentId: agent.id, agentVersion, priceCredits };
  return {
    product: agent.id,
    digest: digestOf(prepared),
    permanent,
    agent: what,
    opensRun: hasEffects,
    run: async ({ id, runId, ...limit }) => {
      // What was begun on a ledger is looked after by its run's row, whatever becomes of this process.
      if (hasEffects) await openRun(context.db, { ...what, id: runId, leaseMs: context.config.runLeaseMs });
      context.leases.keep(runId);
      try {
        const effectKey = `${id.network}/${id.key}`;
        const outcome = await executeRun(context, { runId, prepared, effectKey, ...limit });
        const state = outcome.success ? "succeeded" : outcome.unknown ? "unknown" : "failed";
        context.events.runEnded({ runId, agent: agent.address, state });
        return outcome;
      } finally {
        context.leases.end(runId);
      }
    },
  };
}

function digestOf({ agent, input }: PreparedRun): Buffer {
  const values = Object.entries(input.values).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify([agent.id, values, input.extraInstructions ?? null]), "buffer");
}

function exampleOf(fields: readonly Field[]): Record<string, Value> {
  return Object.fromEntries(
    fields
      .filter(({ required, example }) => required || example !== undefined)
      .map((field) => [field.name, field.example ?? field.default ?? sampleOf(field)]),
  );
}

function sampleOf({ type, choices, min, label, name }: Field): Value {
  switch (type) {
    case "boolean":
      return true;
    case "number":
    case "integer":
      return min ?? 1;
    case "choice":
      return choices?.[0] ?? "";
    case "url":
    case "image":
      return "https://example.com/";
    default:
      return label ?? name;
  }
}
