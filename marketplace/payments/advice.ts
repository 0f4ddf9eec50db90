import type { Remedy } from "../connectors/connector.ts";

/** What a buyer whose payment is settled can do about a run that failed. `again` says how the payment is shown again. */
export function adviceFor(remedy: Remedy, again: string): string {
  return `The payment was settled and stays good for this agent until one run succeeds: ${steps[remedy](again)}`;
}

const steps: Readonly<Record<Remedy, (again: string) => string>> = {
  again: (again) => `${again} with the same input to run again without paying.`,
  later: (again) => `${again} with the same input later; nobody can be served before that.`,
  input: (again) =>
    `as things stand this input cannot work. Put right what the error names and ${lower(again)} with the same input, or ` +
    `${lower(again)} with another one, with the quote it was settled for (\`accepted\`, whole) or the wallet that paid.`,
};

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
