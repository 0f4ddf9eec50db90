/** @jsxRuntime automatic @jsxImportSource preact */

import { ApiError } from "../../../../shared/errors.ts";
import { AreaField, SelectField, TextField } from "../../../../shared/page/field.tsx";
import type { KeyChanges } from "../../../api-keys/change.ts";
import { type Scope, scopes, type ToolListing, toolListings } from "../../../api-keys/key-settings.ts";
import type { ListedKey } from "../../../api-keys/list.ts";
import { usualCallsPerMinute } from "../../../http/calls-per-minute.ts";
import { type Refusal, wholeNumber } from "../refusal.ts";
import { isTouched } from "../seen.tsx";

/** The fields that the forms of a key have, by the names of the API. */
export const keyFields = [
  "name",
  "scope",
  "agents",
  "tools",
  "rate_limit_per_minute",
  "max_credits_per_day",
  "max_credits_per_month",
] as const;

/** What a key is called, sees, and may spend. */
export function KeyFields({ listed, refusal, isForClient = false, isNew = false }: KeyFieldsProps) {
  const given = (field: (typeof keyFields)[number]) => ({
    id: field,
    name: field,
    value: refusal?.value(field) ?? shown(listed, field),
    error: refusal?.at(field),
  });
  return (
    <>
      <TextField
        {...given("name")}
        label="Name"
        required
        autofocus={isNew && refusal === undefined}
        maxLength={100}
        help="Only you see it."
      />
      <SelectField
        {...given("scope")}
        label={isForClient ? "Agents it may run" : "Agents as MCP tools"}
        choices={isForClient ? clientScopeChoices : scopeChoices}
        help={
          isForClient
            ? undefined
            : "Over REST a key runs any agent, within its caps. Other creators’ agents are tools once you choose them."
        }
      />
      <div class="only-chosen">
        <AreaField
          {...given("agents")}
          mono
          label="Chosen agents"
          rows={4}
          spellcheck={false}
          placeholder="ada/summarizer"
          help="Their addresses, one a line, of any creator. Up to 100."
        />
      </div>
      <div class="only-tools">
        <SelectField {...given("tools")} label="How an MCP client finds them" choices={listingChoices} />
      </div>
      <div class="cols cols-3">
        <TextField
          {...given("rate_limit_per_minute")}
          label="Calls a minute"
          inputMode="numeric"
          placeholder={String(usualCallsPerMinute)}
          maxLength={7}
        />
        <TextField
          {...given("max_credits_per_day")}
          label="Daily cap"
          note="credits"
          inputMode="numeric"
          placeholder={isForClient ? undefined : "none"}
          required={isForClient}
          maxLength={13}
          help="A day ends at 00:00 UTC."
        />
        <TextField
          {...given("max_credits_per_month")}
          label="Monthly cap"
          note="credits"
          inputMode="numeric"
          placeholder="none"
          maxLength={13}
        />
      </div>
    </>
  );
}

const scopeChoices: ReadonlyArray<{ value: Scope; label: string }> = [
  { value: "own_agents", label: "My own agents" },
  { value: "chosen_agents", label: "Chosen agents" },
  { value: "rest_only", label: "None, REST only" },
];

/** A client reaches the tool server alone, where the drawings are whatever its scope. */
const clientScopeChoices = scopeChoices.map((choice) =>
  choice.value === "rest_only" ? { ...choice, label: "No agents, drawings only" } : choice,
);

interface KeyFieldsProps {
  readonly listed?: ShownSettings | undefined;
  readonly refusal: Refusal | undefined;
  readonly isForClient?: boolean;
  /** The page is there to make a key, and begins in its name. */
  readonly isNew?: boolean;
}

const listingChoices: ReadonlyArray<{ value: ToolListing; label: string }> = [
  { value: "all", label: "A tool for each agent" },
  { value: "search", label: "By search: five tools, for any number of agents" },
];

/** What the fields are filled in with. */
export type ShownSettings = Pick<ListedKey, (typeof keyFields)[number]>;

function shown(listed: ShownSettings | undefined, field: (typeof keyFields)[number]): string | undefined {
  const value = listed?.[field];
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** What every field is filled in with. */
export function shownSettings(listed: ShownSettings): Record<string, string | undefined> {
  return Object.fromEntries(keyFields.map((field) => [field, shown(listed, field)]));
}

/** What of a key the form changes. */
export function keyChangesOf(form: URLSearchParams): KeyChanges {
  const { name, scope, agents, tools, rateLimitPerMinute, maxCreditsPerDay, maxCreditsPerMonth } = keyOfForm(form);
  const isNew = (...fields: ReadonlyArray<(typeof keyFields)[number]>) =>
    fields.some((field) => isTouched(form, field));
  const field = "rate_limit_per_minute";
  if (form.has(field) && isNew(field) && rateLimitPerMinute === undefined) {
    throw new ApiError("invalid_value", `"${field}" must be a whole number: every key has a limit.`, {
      body: { field },
    });
  }
  return {
    ...(isNew("name") && { name }),
    ...(isNew("scope", "agents") && { scope, agents }),
    ...(isNew("tools") && { tools }),
    ...(isNew("rate_limit_per_minute") && { rateLimitPerMinute }),
    ...(isNew("max_credits_per_day") && { maxCreditsPerDay: maxCreditsPerDay ?? null }),
    ...(isNew("max_credits_per_month") && { maxCreditsPerMonth: maxCreditsPerMonth ?? null }),
  };
}

/** What the form says. Agents count with their scope alone, since the field is only shown with it. */
export function keyOfForm(form: URLSearchParams) {
  const scope = scopes.find((one) => one === form.get("scope"));
  const lines = (form.get("agents") ?? "").split(/[\s,]+/).filter(Boolean);
  return {
    name: form.get("name") ?? "",
    scope,
    agents: scope === "chosen_agents" ? lines : [],
    tools: toolListings.find((one) => one === form.get("tools")),
    rateLimitPerMinute: wholeNumber(form, "rate_limit_per_minute"),
    maxCreditsPerDay: wholeNumber(form, "max_credits_per_day"),
    maxCreditsPerMonth: wholeNumber(form, "max_credits_per_month"),
  };
}
