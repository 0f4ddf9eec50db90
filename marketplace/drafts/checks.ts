import { networkOf } from "../../shared/networks.ts";
import { listWallets } from "../accounts/account-wallets.ts";
import type { Account } from "../accounts/create.ts";
import { toolNameOf } from "../agent-address.ts";
import { type Checked, checkDefinition } from "../agents/check.ts";
import type { PublishNeeds } from "../agents/publish.ts";
import { connectors } from "../connectors/registry.ts";
import type { Problem } from "../parse.ts";
import type { Draft } from "./drafts.ts";
import { wholeOf } from "./publish-draft.ts";

/** One thing that must hold, or should be known, before a draft is published. */
export interface Check {
  /** `bad` keeps it from being published, `warn` does not, `wait` is not known. */
  readonly state: "ok" | "bad" | "warn" | "wait";
  readonly text: string;
  readonly detail: string | null;
  /** Where it is put right: a path in the definition. */
  readonly field: string | null;
  /** Where it is put right that is no field of the draft. */
  readonly remedy: "wallets" | "try" | null;
}

/** Everything that keeps a draft from being published, and what is good to know. */
export async function checkDraft(needs: PublishNeeds, owner: Account, draft: Draft): Promise<CheckedDraft> {
  const found = await checkDefinition(needs.tools, owner.id, await wholeOf(needs, owner, draft));
  const problems = "problems" in found ? found.problems : [];
  return {
    problems,
    outputKind: "problems" in found ? undefined : found.outputKind,
    checks: [
      ...problems.map(problemCheck),
      ...heldChecks(problems),
      note("ok", `Over MCP it is called ${draft.agent?.toolName ?? toolNameOf(owner.handle, draft.slug)}`),
      ...(await payChecks(needs, owner, draft)),
      triedCheck(draft, problems.length === 0),
    ],
  };
}

export interface CheckedDraft {
  readonly problems: readonly Problem[];
  readonly checks: readonly Check[];
  /** Undefined where the settings do not say yet. */
  readonly outputKind: Checked["outputKind"] | undefined;
}

const note = (state: Check["state"], text: string, more: Partial<Check> = {}): Check => ({
  state,
  text,
  detail: null,
  field: null,
  remedy: null,
  ...more,
});

function problemCheck({ path, message, remedy }: Problem): Check {
  const at = path.map(String);
  if (at[0] === "secrets") return note("bad", `The secret ${at[1] ?? ""} ${message}`, { field: "secrets" });
  const sentence = at.length === 0 || (at.length === 1 && at[0] === "settings") ? "" : `${nameOf(at)} `;
  const text = `${sentence}${message}`;
  return note("bad", text.charAt(0).toUpperCase() + text.slice(1), {
    field: at.join(".") || null,
    remedy: remedy ?? null,
  });
}

/** `fields.1.max` is "field 2, max". */
function nameOf(path: readonly string[]): string {
  const [first = "", second, ...rest] = path;
  if (first === "price_credits") return "the price";
  if (first === "fields" && second !== undefined) return [`Field ${Number(second) + 1}`, ...rest].join(", ");
  return (first === "settings" ? [second ?? "", ...rest] : path).join(" ").replaceAll("_", " ");
}

/** The checks that hold for the parts of a definition without problems. */
function heldChecks(problems: readonly Problem[]): Check[] {
  const isWrong = (name: string) => problems.some(({ path }) => path[0] === name);
  const isListed = !["name", "description", "category", "tags", "price_credits"].some(isWrong);
  const settingsHold = !isWrong("settings") && !isWrong("secrets") && !isWrong("connector");
  return [
    ...(isListed ? [note("ok", "The listing is complete")] : []),
    ...(isWrong("fields") ? [] : [note("ok", "The fields' rules fit together")]),
    ...(settingsHold && problems.length === 0
      ? [note("ok", "Every slot has a field"), note("ok", "The connector's settings are complete")]
      : []),
  ];
}

async function payChecks({ db }: PublishNeeds, owner: Account, { definition }: Draft): Promise<Check[]> {
  const price = Number(definition.price_credits);
  if (price === 0) return [note("ok", "Free: no buyer pays for a run")];
  if (connectors.get(definition.connector)?.needsAccount) {
    return [note("ok", "Sold for credits", { detail: "a run needs a buyer with an account" })];
  }
  const wallets = await listWallets(db, owner.id);
  if (wallets.length === 0) {
    const detail = "without a checked wallet, only buyers with credits can run it, and credits earned are spent here";
    return [note("warn", "Not payable in USDC yet", { detail, remedy: "wallets" })];
  }
  return wallets.map(({ network, address, state }) => {
    const name = networkOf(network)?.name ?? network;
    if (state === "checked") return note("ok", `Payable on ${name}`, { detail: `paid to ${address}` });
    return note("warn", `Not payable on ${name} yet`, { detail: `${address} is ${state}`, remedy: "wallets" });
  });
}

function triedCheck({ definition, savedAt, triedWell }: Draft, canRun: boolean): Check {
  if (connectors.get(definition.connector)?.permanent) {
    return note("warn", "Cannot be tried", { detail: "what it does cannot be taken back" });
  }
  if (triedWell === true) return note("ok", "Tried since the last change, and it worked");
  if (triedWell === false) return note("warn", "Tried since the last change, and it failed", { remedy: "try" });
  if (savedAt === undefined) return note("wait", "Nothing is changed since the newest version");
  const detail = "not required; a failed run costs you a buyer";
  return note("wait", "Not tried since the last change", { detail, ...(canRun && { remedy: "try" }) });
}
