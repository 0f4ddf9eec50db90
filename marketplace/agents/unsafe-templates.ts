import type { Connector } from "../connectors/connector.ts";
import type { Problem } from "../parse.ts";
import type { Field } from "./contract.ts";

/**
 * What in an agent's templates could give a secret away or let a buyer's value leave its place. Nothing of the kind is
 * published; a version that was published before its problem was known is not run.
 */
export function unsafeTemplates<Settings>(
  connector: Connector<Settings>,
  settings: Settings,
  fields: readonly Field[],
): Problem[] {
  const problems = [...(connector.templateProblems?.(settings, fields) ?? [])];
  if (!connector.takesSecrets) {
    for (const name of connector.slots(settings).secrets) {
      problems.push({
        path: [],
        message: `may not use {{secret.${name}}}: what ${connector.id} agents send is read by others`,
      });
    }
  }
  return problems.map(({ path, message }) => ({ path: ["settings", ...path], message }));
}
