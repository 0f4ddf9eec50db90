import type { Queryable } from "../../shared/postgres.ts";
import { SizedCache } from "../../shared/sized-cache.ts";
import type { Connector, ConnectorId, Tools } from "../connectors/connector.ts";
import { connectors } from "../connectors/registry.ts";
import type { Spending } from "../connectors/reservations.ts";
import { ConnectorError, type OutputKind, type Result } from "../connectors/result.ts";
import { type Credits, credits } from "../credits/amount.ts";
import type { AgentId } from "../ids.ts";
import type { ModelList } from "../models/model-list.ts";
import { type ModelUser, type VersionModel, versionModel } from "../models/version-model.ts";
// A type only: runs says what it can run, and a version of an agent is one such thing.
import type { Runnable, RunnableCall } from "../runs/runnable.ts";
import type { Sealer } from "../sealing.ts";
import type { Category } from "./category.ts";
import { type Contract, compileContract, type Field } from "./contract.ts";
import { noteFor } from "./notices.ts";
import { unsafeTemplates } from "./unsafe-templates.ts";
import { withoutSecrets } from "./withhold.ts";

/**
 * One version of an agent, ready to run. The creator's recipe (settings and secrets) lives inside `run` alone, so no
 * answer and no log line can carry it.
 */
export interface AgentVersion {
  readonly number: number;
  readonly name: string;
  readonly description: string;
  readonly category: Category;
  readonly tags: readonly string[];
  readonly connector: ConnectorId;
  readonly priceCredits: Credits;
  readonly outputKind: OutputKind;
  readonly contract: Contract;
  readonly timeLimitMs: number;
  readonly usualSeconds: readonly [least: number, most: number];
  /** What a run does cannot be taken back. */
  readonly permanent: boolean;
  /** Its runs write down what they do before they do it. */
  readonly hasEffects: boolean;
  /** Only accounts may run it, so that it cannot be paid per call. */
  readonly needsAccount: boolean;
  /** A caller could make the agent give away a secret or say what its creator did not mean. */
  readonly unsafe: boolean;
  /** Absent where it calls no model of the platform's. */
  readonly model?: VersionModel | undefined;
  readonly run: (call: RunnableCall, tools: Tools) => Promise<Result>;
  /** What its connector can tell of a call before money moves; absent where there is nothing to ask. */
  readonly precheck?: (call: RunnableCall, tools: Tools) => Promise<Spending>;
}

/** A version of an agent as a run needs it. */
export function asRunnable(
  { id, address, ownerId }: Pick<ModelUser, "id" | "address" | "ownerId">,
  version: AgentVersion,
): Runnable {
  const { number, connector, priceCredits, timeLimitMs, permanent, hasEffects, model, run, precheck } = version;
  const limits = { priceCredits, timeLimitMs, permanent, hasEffects };
  return { id, address, ownerId, version: number, connector, ...limits, model, run, ...(precheck && { precheck }) };
}

/** Loads versions and keeps the most recently used ones: what a version says never changes. */
export class Versions {
  readonly #db: Queryable;
  readonly #sealer: Sealer;
  readonly #modelList: ModelList;
  readonly #kept = new SizedCache<Promise<AgentVersion>>(keptCharactersMax);

  constructor(db: Queryable, sealer: Sealer, modelList: ModelList) {
    this.#db = db;
    this.#sealer = sealer;
    this.#modelList = modelList;
  }

  load(agentId: AgentId, number: number): Promise<AgentVersion> {
    const key = `${agentId}@${number}`;
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const loading = loadVersion(this.#db, this.#sealer, this.#modelList, agentId, number);
    const version = loading.then((loaded) => loaded.version);
    this.#kept.set(key, version, leastCharacters);
    loading.then(
      ({ characters }) => this.#kept.set(key, version, leastCharacters + characters),
      () => this.#kept.delete(key),
    );
    return version;
  }
}

/** How a version of an agent read its input, and on which connector it ran; undefined where there is no such version. */
export async function readInputRules(
  db: Queryable,
  agentId: AgentId,
  number: number,
): Promise<{ readonly connector: ConnectorId; readonly contract: Contract } | undefined> {
  const { rows } = await db.query<Pick<VersionRow, "connector" | "fields" | "accepts_extra_instructions">>(
    "select connector, fields, accepts_extra_instructions from agent_versions where agent_id = $1 and version = $2",
    [agentId, number],
  );
  const row = rows[0];
  return row && { connector: row.connector, contract: compileContract(row.fields, row.accepts_extra_instructions) };
}

/** Some forty megabytes of memory: creators say how long their definitions are. */
const keptCharactersMax = 16_000_000;
/** What a version counts for that says nothing. */
const leastCharacters = 8_000;

async function loadVersion(
  db: Queryable,
  sealer: Sealer,
  modelList: ModelList,
  agentId: AgentId,
  number: number,
): Promise<{ readonly version: AgentVersion; readonly characters: number }> {
  const { rows } = await db.query<VersionRow>(
    `select name, description, category, tags, connector, price_credits, output_kind, fields, accepts_extra_instructions, settings,
       sealed_secrets
     from agent_versions where agent_id = $1 and version = $2`,
    [agentId, number],
  );
  const row = rows[0];
  const connector = row && connectors.get(row.connector);
  if (!connector) throw new Error(`${agentId} version ${number} cannot be run: no connector`);
  const settings = connector.settings.parse(row.settings);
  // An agent whose secrets do not open is misconfigured; that shows before a buyer is charged.
  openAll(sealer, agentId, row.sealed_secrets);
  const filled = (call: RunnableCall) => ({ ...call, settings, secrets: openAll(sealer, agentId, row.sealed_secrets) });
  const version: AgentVersion = {
    number,
    name: row.name,
    description: row.description,
    category: row.category,
    tags: row.tags,
    connector: connector.id,
    priceCredits: credits(row.price_credits),
    outputKind: row.output_kind,
    contract: compileContract(row.fields, row.accepts_extra_instructions),
    timeLimitMs: connector.timeLimitMs,
    usualSeconds: connector.usualSeconds,
    permanent: connector.permanent,
    hasEffects: connector.hasEffects ?? false,
    needsAccount: connector.needsAccount ?? false,
    model: versionModel(modelUseOf(connector, settings), row.price_credits, modelList),
    unsafe: unsafeTemplates(connector, settings, row.fields).length > 0,
    run: (call, tools) => {
      const secrets = openAll(sealer, agentId, row.sealed_secrets);
      const sent = connector.slots(settings).secrets.flatMap((name) => secrets[name] ?? []);
      const told = () => noteFor(db, agentId, number, "secret_in_answer");
      return withoutSecrets(sent, told, call.signal, () => connector.run({ ...call, settings, secrets }, tools));
    },
    ...(connector.precheck && { precheck: (call, tools) => connector.precheck!(filled(call), tools) }),
  };
  return { version, characters: JSON.stringify([row.fields, row.settings]).length };
}

/** What a version asks of the platform's models. A prompt that is too long to be written at all has no length. */
function modelUseOf(connector: Connector<unknown>, settings: unknown): Parameters<typeof versionModel>[0] {
  return {
    asked: connector.model?.(settings),
    promptLength: (input) => {
      try {
        return connector.promptLength?.(input, settings) ?? 0;
      } catch (error) {
        if (error instanceof ConnectorError) return Number.POSITIVE_INFINITY;
        throw error;
      }
    },
  };
}

/** The secrets of a version in the clear, for the moment of a run. */
export function openAll(sealer: Sealer, agentId: AgentId, sealed: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(sealed).map(([name, text]) => [name, sealer.open(text, `${agentId}/${name}`)]),
  );
}

interface VersionRow {
  readonly name: string;
  readonly description: string;
  readonly category: Category;
  readonly tags: readonly string[];
  readonly connector: ConnectorId;
  readonly price_credits: bigint;
  readonly output_kind: OutputKind;
  readonly fields: Field[];
  readonly accepts_extra_instructions: boolean;
  readonly settings: unknown;
  readonly sealed_secrets: Record<string, string>;
}
