import type { Remedy } from "../connectors/connector.ts";

/** What a buyer whose payment is settled can do about a run that failed. `again` says how the payment is shown again. */
export function adviceFor(remedy: Remedy, again: string): string {
  return `The payment was settled and stays good for this agent until one run succeeds: ${steps[remedy](again)}`;
}

const steps: Readonly<Record<Remedy, (again: string) => string>> = {
  again: (again) => `${again} with the same input to run again without paying.`,
  later: (again) => `${again} with the same input later; nobody can be served before that.`,
  input: (again) =>
    `as things stand this input cannot work. Put right what the error names, then ${lower(again)} with the same input ` +
    "to run without paying.",
};

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
