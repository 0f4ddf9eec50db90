import { hash } from "node:crypto";
import type { Field, Input, Value } from "../agents/contract.ts";
import { type LiveAgent, ownerOf } from "../agents/find.ts";
import type { Context } from "../context.ts";
import { executeRun } from "../runs/execute.ts";
import { precheck } from "../runs/precheck.ts";
import type { PreparedRun } from "../runs/prepare.ts";
import { openRun } from "../runs/record.ts";
import { atomicPerCredit, type Offer, type PaidWork } from "./offer.ts";
import type { PaidCallId } from "./paid-calls.ts";
import { type Proof, paidCallIdOf } from "./proof.ts";

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

/**
 * 503 when nobody pays for the agent's model now; before a price is told, and before a payment is looked at. Not for a
 * payment that was used before: its call goes on where it stopped, and its result may be waiting.
 */
export async function requireModelFunds(context: Context, agent: LiveAgent, proof: Proof | string | undefined) {
  const paid = typeof proof === "object";
  const refusal = await context.modelFunds.refusal(agent, paid ? "now" : "lately");
  if (!refusal) return;
  const id = paid ? paidCallIdOf(proof) : undefined;
  if (!id || !(await context.paidCalls.find(id))) throw refusal;
}

/** `given` is the input as it was posted. */
export function agentWork(context: Context, prepared: PreparedRun, given: Readonly<Record<string, unknown>>): PaidWork {
  const { agent } = prepared;
  const { number: agentVersion, priceCredits, permanent, hasEffects } = agent.version;
  const what = { agentId: agent.id, agentVersion, priceCredits };
  return {
    product: agent.id,
    digest: digestOf(agent, prepared.input),
    permanent,
    asOf: (version) => callAsOf(context, agent, version, given),
    agent: { ...what, address: agent.address },
    opensRun: hasEffects,
    ...(agent.version.precheck && { reservation: reservationOf(context, prepared) }),
    run: async ({ id, runId, ...limit }) => {
      const modelCharge = await context.modelFunds.charge(agent, runId, false);
      // What was begun on a ledger is looked after by its run's row, whatever becomes of this process.
      if (hasEffects) await openRun(context.db, { ...what, id: runId, leaseMs: context.config.runLeaseMs });
      context.leases.keep(runId);
      try {
        const effectKey = effectKeyOf(id);
        const outcome = await executeRun(context, { runId, prepared, effectKey, modelCharge, ...limit });
        const state = outcome.success ? "succeeded" : outcome.unknown ? "unknown" : "failed";
        context.events.runEnded({ runId, agent: agent.address, state });
        return outcome;
      } finally {
        context.leases.end(runId);
        context.inFlight.background(context.modelFunds.end(runId, modelCharge));
      }
    },
  };
}

/** A payment buys one effect, however many runs it takes. */
const effectKeyOf = ({ network, key }: PaidCallId) => `${network}/${key}`;

function reservationOf(context: Context, prepared: PreparedRun): NonNullable<PaidWork["reservation"]> {
  return {
    take: ({ id, runId }) => precheck(context, { runId, prepared, effectKey: effectKeyOf(id) }),
    end: ({ id, lapseMs }) => context.reservations.end(effectKeyOf(id), { lapseMs }),
  };
}

async function callAsOf(
  { versions }: Context,
  agent: LiveAgent,
  version: number,
  given: Readonly<Record<string, unknown>>,
) {
  if (version === agent.version.number) return { digest: digestOf(agent, agent.version.contract.read(given)) };
  const then = await versions.load(agent.id, version).catch(() => undefined);
  if (then?.connector !== agent.version.connector) return undefined;
  try {
    return { digest: digestOf(agent, then.contract.read(given)) };
  } catch {
    // It was not for this input.
    return { digest: Buffer.alloc(0) };
  }
}

function digestOf(agent: LiveAgent, input: Input): Buffer {
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
