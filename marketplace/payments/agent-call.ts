import type { Field } from "../agents/contract.ts";
import { type LiveAgent, ownerOf } from "../agents/find.ts";
import { asRunnable } from "../agents/version.ts";
import { atomicPerCredit } from "../answers/amounts.ts";
import type { Config } from "../config.ts";
import type { Value } from "../input.ts";
import type { ModelFunds } from "../models/model-funds.ts";
import { type PreparedRun, prepareAgent, readRun } from "../runs/prepare.ts";
import { digestOfInput } from "./paid-calls/bought-input.ts";
import type { PaidRun } from "./paid-calls/redemption.ts";
import type { PaidCalls } from "./paid-calls/store.ts";
import type { PaidCallId } from "./payment-payload.ts";
import type { Offer } from "./quotes/offer.ts";

/** A call of an agent, paid straight to its creator. */
export function agentOffer({ config }: { readonly config: Pick<Config, "publicUrl"> }, agent: LiveAgent): Offer {
  const { description, priceCredits, contract } = agent.version;
  return {
    product: agent.id,
    url: `${config.publicUrl}/api/agent/${agent.address}`,
    description,
    amount: priceCredits * atomicPerCredit,
    wallets: () => {
      ownerOf(agent);
      return agent.wallets;
    },
    input: {
      schema: contract.jsonSchema,
      example: exampleOf(contract.fields),
      brief: briefExampleOf(contract.fields),
    },
  };
}

/**
 * 503 when the creator cannot pay for the agent's model now; before a price is told, and before a payment is looked at. Not for
 * a payment that was used before: its call goes on where it stopped, and its result may be waiting. `payment` is undefined for
 * one that cannot be identified.
 */
export async function requireModelFunds(
  { modelFunds, paidCalls }: { readonly modelFunds: ModelFunds; readonly paidCalls: PaidCalls },
  agent: LiveAgent,
  payment: "none" | PaidCallId | undefined,
): Promise<void> {
  const refusal = await modelFunds.refusal(asRunnable(agent, agent.version), payment === "none" ? "lately" : "now");
  if (!refusal) return;
  if (payment === undefined || payment === "none" || !(await paidCalls.find(payment))) throw refusal;
}

/** A call of an agent with this input, as one payment buys it. Throws what is wrong with the input. */
export function agentWork(agent: LiveAgent, given: Readonly<Record<string, unknown>>): PaidRun {
  return paidRun(agent, given, prepareAgent(agent, given));
}

/** A call whose result is kept: nothing runs for it any more, so it matters not what could be run now. */
export function keptWork(agent: LiveAgent, given: Readonly<Record<string, unknown>>): PaidRun {
  return paidRun(agent, given, readRun(agent, given));
}

function paidRun(agent: LiveAgent, given: Readonly<Record<string, unknown>>, prepared: PreparedRun): PaidRun {
  const { id: product, permanent } = prepared.runnable;
  return {
    kind: "run",
    product,
    permanent,
    prepared,
    digest: digestOfInput(product, prepared.input),
    asked: { agent, given },
  };
}

function exampleOf(fields: readonly Field[]): Record<string, Value> {
  return Object.fromEntries(
    fields
      .filter(({ required, example }) => required || example !== undefined)
      .map((field) => [field.name, field.example ?? field.default ?? sampleOf(field)]),
  );
}

/** What is required, with long values cut short or replaced. */
function briefExampleOf(fields: readonly Field[]): Record<string, Value> {
  const required = fields.filter((field) => field.required && field.default === undefined);
  return Object.fromEntries(required.map((field) => [field.name, briefValueOf(field)]));
}

function briefValueOf(field: Field): Value {
  const value = field.example ?? sampleOf(field);
  if (typeof value !== "string" || value.length <= briefLengthMax) return value;
  if (field.type === "image") return sampleOf(field);
  const isFree = (field.type === "string" || field.type === "text") && field.pattern === undefined;
  return isFree
    ? Array.from(value.slice(0, 2 * briefLengthMax))
        .slice(0, briefLengthMax)
        .join("")
    : value;
}

const briefLengthMax = 100;

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
