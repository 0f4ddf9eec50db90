import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Account } from "../accounts/create.ts";
import type { Sealer } from "../sealing.ts";
import { findOwnAgent } from "./creator-agents.ts";
import { definitionOf } from "./versions.ts";

/**
 * The definition with the secrets that the agent's newest version has and the definition does not name: secrets are never
 * told, so a creator who sends a definition again cannot send them again. A secret that is null is taken away.
 */
export async function withKeptSecrets(
  { db, sealer }: { readonly db: Database; readonly sealer: Sealer },
  owner: Account,
  slug: string,
  given: object,
): Promise<object> {
  const { secrets = {}, ...definition } = given as { secrets?: unknown };
  if (typeof secrets !== "object" || secrets === null || Array.isArray(secrets)) return given;
  const own = await findOwnAgent(db, owner.id, slug).catch(unlessAbsent);
  const kept = own ? (await definitionOf(db, sealer, own.id, own.newestVersion)).secrets : {};
  const merged = Object.entries({ ...kept, ...secrets }).filter(([, secret]) => secret !== null);
  return { ...definition, secrets: Object.fromEntries(merged) };
}

function unlessAbsent(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "not_found") return undefined;
  throw error;
}
