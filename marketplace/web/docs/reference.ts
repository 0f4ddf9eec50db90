import { type Operation, operationsOf, type ReferenceFacts } from "../../../shared/reference/operations.ts";
import { confirmedMinutes } from "../../admin/confirm.ts";
import type { Access, Endpoint } from "../../http/endpoint.ts";
import { exampleUrl } from "../../http/examples.ts";
import { usualAnswers } from "../../http/openapi.ts";
import { meanings } from "../../http/refusals.ts";
import { maxTimeoutSeconds } from "../../time-limits.ts";

/** Every operation of the marketplace at `publicUrl`, as people read it. */
export function referenceOf(all: () => readonly Endpoint[], publicUrl: string): () => readonly Operation[] {
  return operationsOf<Access>(all, {
    publicUrl,
    exampleUrl,
    waitSeconds: maxTimeoutSeconds,
    meanings,
    access,
    usualAnswers: (endpoint) => usualAnswers(endpoint as Endpoint),
  });
}

const session = { sends: "session" } as const;

const access: ReferenceFacts<Access>["access"] = {
  public: { name: "no key", sends: "nothing" },
  unlimited: { name: "no key, without a limit", sends: "nothing" },
  apiKey: { name: "API key", sends: "key" },
  session: { name: "session of a person who is signed in", ...session },
  account: { name: "session of a person with an account", ...session },
  operator: { name: `session of an operator who showed a code in the last ${confirmedMinutes} minutes`, ...session },
};
