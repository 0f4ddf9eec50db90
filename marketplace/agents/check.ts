import type { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { type Connector, type ConnectorId, connectorNames, type PublishTools } from "../connectors/connector.ts";
import { connectors } from "../connectors/registry.ts";
import type { OutputKind } from "../connectors/result.ts";
import type { AccountId } from "../ids.ts";
import { modelProblems } from "../models/model-list.ts";
import { type Problem, plainMessages, problemsOf, sentenceOf } from "../parse.ts";
import { type Definition, definitionSchema } from "./definition.ts";
import { searchProblem } from "./secret-search.ts";
import { unsafeTemplates } from "./unsafe-templates.ts";

/** Checks that the parts of a definition fit together: its form, the connector's settings, slots and secrets. */
export async function checkDefinition(
  tools: PublishTools,
  ownerId: AccountId,
  given: unknown,
): Promise<Checked | { readonly problems: readonly Problem[] }> {
  const read = definitionSchema.safeParse(given, plainMessages);
  if (!read.success) return { problems: [...problemsOf(read.error), ...settingsFormProblems(given)] };
  const definition = read.data;
  const connector = connectors.get(definition.connector);
  if (!connector) {
    const message = `must be one of ${[...connectors.keys()].join(", ")}: ${connectorNames[definition.connector]} agents cannot be published here yet`;
    return { problems: [{ path: ["connector"], message }] };
  }
  const settings = (connector.settings as z.ZodType).safeParse(definition.settings, plainMessages);
  if (!settings.success) return { problems: problemsOf(settings.error, ["settings"]) };
  const problems = [
    ...slotProblems(connector, settings.data, definition),
    ...unsafeTemplates(connector, settings.data, definition.fields),
    ...modelProblemsOf(connector, settings.data, definition, tools),
    ...((await connector.publishProblems?.(settings.data, tools, ownerId)) ?? []).map(withinSettings),
  ];
  if (problems.length > 0) return { problems };
  return {
    definition: { ...definition, settings: settings.data },
    outputKind: connector.outputKind(settings.data),
    needsAccount: connector.needsAccount ?? false,
  };
}

/** Problems of the settings of a definition that is wrong elsewhere, so that the creator hears all at once. */
function settingsFormProblems(given: unknown): Problem[] {
  const { connector: id, settings } = (given ?? {}) as { connector?: unknown; settings?: unknown };
  const connector = connectors.get(id as ConnectorId);
  if (!connector || typeof settings !== "object" || settings === null) return [];
  const read = (connector.settings as z.ZodType).safeParse(settings, plainMessages);
  return read.success ? [] : problemsOf(read.error, ["settings"]);
}

export interface Checked {
  /** With the settings as the connector reads them. */
  readonly definition: Omit<Definition, "settings"> & { readonly settings: unknown };
  readonly outputKind: OutputKind;
  readonly needsAccount: boolean;
}

/** The problems as one 422 that names them all, and the first one's field. */
export function refusalOf(problems: readonly Problem[]): ApiError {
  const field = problems[0]?.path.join(".");
  const named = problems.slice(0, 10).map(agentSentence);
  return new ApiError("invalid_value", `${named.join("; ")}.`, field ? { body: { field } } : {});
}

export const agentSentence = (problem: Problem) => sentenceOf(problem, "The agent");

function slotProblems(connector: Connector<unknown>, settings: unknown, definition: Definition): Problem[] {
  const known = new Set(definition.fields.map(({ name }) => name));
  if (definition.accepts_extra_instructions) known.add("extraInstructions");
  const { fields, secrets, problems } = connector.slots(settings);
  const path = ["settings"];
  return [
    ...secrets.flatMap((name) => {
      const secret = Object.hasOwn(definition.secrets, name) ? definition.secrets[name] : undefined;
      const message = secret === undefined ? undefined : searchProblem(secret);
      return message === undefined ? [] : [{ path: ["secrets", name], message }];
    }),
    ...problems.map((problem) => ({ ...problem, path: [...path, ...problem.path] })),
    ...fields
      .filter((name) => !known.has(name))
      .map((name) => ({ path, message: `uses {{${name}}}, which is not a declared field` })),
    ...secrets
      .filter((name) => !Object.hasOwn(definition.secrets, name))
      .map((name) => ({ path: ["secrets", name], message: `must be given: settings use {{secret.${name}}}` })),
  ];
}

function modelProblemsOf(
  connector: Connector<unknown>,
  settings: unknown,
  { price_credits }: Definition,
  { modelList }: PublishTools,
): readonly Problem[] {
  const asked = connector.model?.(settings);
  return asked ? modelProblems(modelList, asked, BigInt(price_credits)) : [];
}

const withinSettings = (problem: Problem): Problem => ({ ...problem, path: ["settings", ...problem.path] });
