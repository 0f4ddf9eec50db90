import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import type { Account } from "../accounts/create.ts";
import { type AgentText, AgentYamlError, parseAgentYaml } from "../agents/agent-yaml.ts";
import { secretName } from "../agents/definition.ts";
import { plainMessages, problemsOf } from "../parse.ts";
import { type DraftDefinition, type DraftSecrets, draftDefinitionShape } from "./draft-definition.ts";
import { type DraftNeeds, keepDraft } from "./drafts.ts";

export const yamlLengthMax = 200_000;

/**
 * Keeps what a text says as the draft of the agent that it names; its slug. `revision` is the state that it takes the place of:
 * none at all when left out, so that no draft is lost. 422 with the line that is wrong.
 */
export async function keepYaml(needs: DraftNeeds, owner: Account, text: string, over?: Over): Promise<string> {
  const { slug, definition, secrets } = readYaml(owner, text);
  if (over && over.slug !== slug) throw wrong(`"agent" must be ${owner.handle}/${over.slug} here`);
  await keepDraft(needs, owner, slug, { revision: over?.revision ?? "version-0", definition, secrets }).catch(
    (error) => {
      if (over || !(error instanceof ApiError) || error.body.field !== "revision") throw error;
      throw new ApiError(
        "conflict",
        `There is a draft or an agent "${slug}" already: open it, and take the text there.`,
        {
          body: { field: "yaml" },
        },
      );
    },
  );
  return slug;
}

interface Over {
  readonly slug: string;
  readonly revision: string;
}

const withSecrets = draftDefinitionShape.safeExtend({
  secrets: z.record(secretName, z.string().max(4_000).nullable()).default({}),
});

function readYaml({ handle }: Account, text: string): Read {
  const { handle: named, slug, definition, placeOf } = parsed(text);
  if (named.toLowerCase() !== handle.toLowerCase())
    throw wrong(`"agent" must begin with your handle: ${handle}/${slug}`);
  const read = withSecrets.safeParse(definition, plainMessages);
  if (!read.success) {
    const [first] = problemsOf(read.error);
    const { path = [], message = "is wrong" } = first ?? {};
    const { line } = placeOf(path);
    throw wrong(`Line ${line}: ${path.length === 0 ? "the agent" : `"${path.join(".")}"`} ${message}`);
  }
  const { secrets, ...said } = read.data;
  return { slug: slug.toLowerCase(), definition: said, secrets };
}

interface Read {
  readonly slug: string;
  readonly definition: DraftDefinition;
  readonly secrets: DraftSecrets;
}

function parsed(text: string): AgentText {
  if (text.length > yamlLengthMax) throw wrong(`The text may have ${yamlLengthMax} characters at most`);
  try {
    return parseAgentYaml(text);
  } catch (error) {
    // Anything else that reading throws is about the text too: too many aliases, for one.
    if (!(error instanceof AgentYamlError)) throw wrong("The text cannot be read as YAML");
    throw wrong(`Line ${error.place.line}: ${error.message}`);
  }
}

const wrong = (sentence: string) => new ApiError("invalid_value", `${sentence}.`, { body: { field: "yaml" } });
