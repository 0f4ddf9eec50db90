import { listWallets } from "../../../accounts/account-wallets.ts";
import type { Account } from "../../../accounts/create.ts";
import { suspensionReasons } from "../../../admin/acts.ts";
import type { PublishNeeds } from "../../../agents/publish.ts";
import { listVersions, type OwnVersion, readVersion } from "../../../drafts/agent-history.ts";
import { type CheckedDraft, checkDraft } from "../../../drafts/checks.ts";
import type { Draft } from "../../../drafts/drafts.ts";
import { type DiffLine, lineDiff } from "../../../drafts/line-diff.ts";
import { definitionYaml } from "../../../drafts/shown-definition.ts";
import type { Value } from "../../../input.ts";
import type { ModelList } from "../../../models/model-list.ts";
import type { TryNeeds } from "../../../runs/try.ts";
import { exampleInput } from "../../agent/form-input.ts";
import type { Told } from "../../agent/result-card.tsx";
import type { FormerRules, RefusedSecret } from "./form-draft.ts";
import { previewFields } from "./shown-draft.ts";

/** All that the editor shows of a draft. */
export interface Editor {
  readonly owner: Account;
  readonly publicUrl: string;
  readonly modelList: ModelList;
  readonly draft: Draft;
  readonly checked: CheckedDraft;
  /** Networks on which its creator can be paid now. */
  readonly networks: readonly string[];
  readonly versions: readonly OwnVersion[];
  /** How the draft differs from a version: the live one, the newest, or the one that was asked for. */
  readonly compared: Compared | undefined;
  readonly yaml: string;
  /** A text that was not taken, and why. */
  readonly refusedYaml: RefusedYaml | undefined;
  /** An address that was not taken, and why. */
  readonly refusedMove: RefusedMove | undefined;
  readonly refusedSecret: RefusedSecret | undefined;
  /** By the places of the fields. */
  readonly formerRules: readonly FormerRules[];
  readonly tried: Tried;
  /** Set when the typed text is not saved, since the draft was changed elsewhere. */
  readonly conflict: Conflict | undefined;
  /** Set when there is no such draft any more: what is shown is only what was posted for it. */
  readonly isGone: boolean;
  /** What a button did not do, and why. */
  readonly problem: string | undefined;
  /** Why the operator took the agent off the market, where that was said. */
  readonly suspendedFor: string | undefined;
}

export interface Compared {
  readonly version: number;
  readonly isLive: boolean;
  readonly lines: readonly DiffLine[];
}

/** The buyer's form beside the draft, and what came of it. */
export interface Tried {
  readonly values: Readonly<Record<string, Value>>;
  readonly wrong?: { readonly field: string; readonly problem: string } | undefined;
  readonly told?: Told | undefined;
}

export interface RefusedYaml {
  readonly text: string;
  readonly problem: string;
}

export interface RefusedMove {
  readonly slug: string;
  readonly problem: string;
}

export interface Conflict {
  /** The state that there is now. */
  readonly revision: string;
  /** From it to what was typed here. */
  readonly lines: readonly DiffLine[];
}

export type EditorNeeds = PublishNeeds & TryNeeds & { readonly config: { readonly publicUrl: string } };

/** What was done before the editor is shown. */
export interface Before {
  readonly against?: number | undefined;
  readonly tried?: Tried | undefined;
  readonly conflict?: Conflict | undefined;
  readonly isGone?: boolean | undefined;
  readonly problem?: string | undefined;
  readonly refusedYaml?: RefusedYaml | undefined;
  readonly refusedMove?: RefusedMove | undefined;
  readonly refusedSecret?: RefusedSecret | undefined;
  readonly formerRules?: readonly FormerRules[] | undefined;
}

export async function readEditor(
  needs: EditorNeeds,
  owner: Account,
  draft: Draft,
  { against, tried, ...said }: Before = {},
): Promise<Editor> {
  const yaml = definitionYaml(owner, draft.slug, draft);
  const [checked, wallets, versions, compared, reasons] = await Promise.all([
    checkDraft(needs, owner, draft),
    listWallets(needs.db, owner.id),
    draft.agent ? listVersions(needs.db, draft.agent.id) : [],
    comparedWith(needs, owner, { draft, yaml, against }),
    draft.agent?.state === "suspended" ? suspensionReasons(needs.db, owner.id) : undefined,
  ]);
  return {
    owner,
    publicUrl: needs.config.publicUrl,
    modelList: needs.tools.modelList,
    draft,
    checked,
    networks: wallets.filter(({ state }) => state === "checked").map(({ network }) => network),
    versions,
    compared,
    yaml,
    refusedYaml: said.refusedYaml,
    refusedMove: said.refusedMove,
    refusedSecret: said.refusedSecret,
    formerRules: said.formerRules ?? [],
    tried: tried ?? { values: exampleInput({ inputs: previewFields(draft.definition) }) },
    conflict: said.conflict,
    isGone: said.isGone ?? false,
    problem: said.problem,
    suspendedFor: reasons?.get(draft.slug),
  };
}

async function comparedWith(needs: EditorNeeds, owner: Account, { draft, yaml, against }: Asked) {
  const { agent } = draft;
  if (!agent) return undefined;
  const live = agent.state === "live" ? agent.liveVersion : undefined;
  const version = against ?? live ?? agent.newestVersion;
  const said = await readVersion(needs, owner, draft.slug, version);
  const before = definitionYaml(owner, draft.slug, said);
  return { version, isLive: version === live, lines: lineDiff(before, yaml) };
}

interface Asked {
  readonly draft: Draft;
  readonly yaml: string;
  readonly against: number | undefined;
}

/** How many lines are new, and how many are gone. */
export function changesIn(lines: readonly DiffLine[]): { added: number; removed: number } {
  const count = (sign: string) => lines.filter((line) => line.sign === sign).length;
  return { added: count("+"), removed: count("-") };
}
