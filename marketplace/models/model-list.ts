import type { EnvReader } from "../../shared/env.ts";
import { type Credits, credits } from "../credits/amount.ts";

/** The models that agents may use at the platform's endpoints, with what they cost their creators and how far they go. */
export interface ModelList {
  readonly chat: ModelMenu;
  readonly images: ModelMenu;
}

export interface ModelMenu {
  /** Used where an agent names none. */
  readonly usual: string;
  readonly models: ReadonlyMap<string, ListedModel>;
}

export interface ListedModel {
  readonly name: string;
  /** What its creator bears of a call; of an image model, for each picture. */
  readonly credits: Credits;
  /** Tokens of one call's answer, or pictures of one call. */
  readonly most: number;
  /** Characters of one call's prompt, system text and all. */
  readonly charactersMax: number;
}

export function readModelList(env: EnvReader): ModelList {
  return {
    chat: readMenu(env, "LLM", ["gpt-4o-mini=1:4000:40000"], "max_tokens"),
    images: readMenu(env, "IMAGES", ["gpt-image-1=25:4:4000"], "pictures"),
  };
}

function readMenu(env: EnvReader, prefix: string, usual: readonly string[], most: string): ModelMenu {
  const variable = `${prefix}_MODELS`;
  const models = new Map<string, ListedModel>();
  for (const entry of env.list(variable, usual)) {
    const [, name = "", cost = "", mostText = "", charactersMax = ""] =
      /^(\S{1,200})=(\d{1,7}):([1-9]\d{0,6}):([1-9]\d{0,7})$/.exec(entry) ?? [];
    if (name === "") {
      const form = `<model>=<credits>:<${most}>:<characters of a prompt>`;
      env.problem(`${variable} must list ${form}; "${entry}" is none`, undefined);
    } else if (models.has(name)) env.problem(`${variable} lists "${name}" twice`, undefined);
    else {
      const bounds = { most: Number(mostText), charactersMax: Number(charactersMax) };
      models.set(name, { name, credits: credits(BigInt(cost)), ...bounds });
    }
  }
  const first = models.keys().next().value ?? "";
  const name = env.text(`${prefix}_MODEL`, first);
  if (models.size > 0 && !models.has(name)) {
    env.problem(`${prefix}_MODEL must be one of ${variable}, with what it costs; "${name}" is none`, undefined);
  }
  return { usual: name, models };
}

/** What an agent's settings ask of a model: one call of it for each run. */
export interface ModelAsked {
  readonly kind: keyof ModelList;
  /** The list's usual one when undefined. */
  readonly name: string | undefined;
  /** Tokens or pictures; a chat answer has no bound of its own when undefined. */
  readonly most: number | undefined;
  /** The setting that says so. */
  readonly mostSetting: string;
}

/** The listed model that is asked for; undefined when it is not listed, or not any more. */
export function listedModel(list: ModelList, { kind, name }: ModelAsked): ListedModel | undefined {
  const { models, usual } = list[kind];
  return models.get(name ?? usual);
}

/** What its creator bears of one run. */
export function costOfRun({ kind, most }: ModelAsked, model: ListedModel): Credits {
  return kind === "images" ? credits(model.credits * BigInt(most ?? 1)) : model.credits;
}

/** The problems of publishing these settings at this price, each with the path that it is about. */
export function modelProblems(
  list: ModelList,
  asked: ModelAsked,
  priceCredits: bigint,
): ReadonlyArray<{ path: string[]; message: string }> {
  const model = listedModel(list, asked);
  if (!model) {
    const names = [...list[asked.kind].models.keys()].join(", ");
    return [{ path: ["settings", "model"], message: `must be one of the models that are offered here: ${names}` }];
  }
  const problems = [];
  if (asked.most !== undefined && asked.most > model.most) {
    problems.push({
      path: ["settings", asked.mostSetting],
      message: `may be at most ${model.most} with ${model.name}`,
    });
  }
  const cost = costOfRun(asked, model);
  if (priceCredits > 0n && priceCredits < cost) {
    const message = `must be 0 or at least ${cost}, which is what a run costs you of ${model.name}`;
    problems.push({ path: ["price_credits"], message });
  }
  return problems;
}
