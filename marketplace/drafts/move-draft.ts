import { ApiError } from "../../shared/errors.ts";
import { inTransaction } from "../../shared/postgres.ts";
import { type Account, lockOpenAccount } from "../accounts/create.ts";
import { parseSlug } from "../agent-address.ts";
import { freeToolName } from "../tool-name.ts";
import { type DraftNeeds, readDraft, requireRevision, sealedAt } from "./drafts.ts";

/**
 * Moves a draft that is not published yet to another address; its tried versions go along. 409 once it was published, since buyers call
 * it at its address, where the account has something at the new address, and where the draft was changed since. 422 for a text that can
 * be no address.
 */
export async function moveDraft(
  needs: DraftNeeds,
  owner: Account,
  slug: string,
  { revision, to }: Move,
): Promise<string> {
  const wanted = parseSlug(to);
  return inTransaction(needs.db, async (tx) => {
    const { handle } = await lockOpenAccount(tx, owner.id);
    const draft = await readDraft({ ...needs, db: tx }, owner, slug);
    requireRevision(revision, draft.revision);
    const { agent } = draft;
    if (agent && agent.state !== "draft") {
      throw new ApiError("conflict", "It was published under this address, which stays: buyers call it.");
    }
    if (wanted === draft.slug) return wanted;
    const { rows } = await tx.query(
      `select from agent_drafts where account_id = $1 and slug = $2
       union all select from agents where account_id = $1 and slug = $2`,
      [owner.id, wanted],
    );
    if (rows.length > 0) {
      const field = { body: { field: "slug" } };
      throw new ApiError("conflict", `"slug" is taken: you have an agent or a draft at ${handle}/${wanted}.`, field);
    }
    await tx.query("update agent_drafts set slug = $3, sealed_secrets = $4 where account_id = $1 and slug = $2", [
      owner.id,
      draft.slug,
      wanted,
      JSON.stringify(sealedAt(needs.sealer, owner.id, wanted, draft.secrets)),
    ]);
    if (agent) {
      const toolName = await freeToolName(tx, agent.id, handle, wanted);
      await tx.query("update agents set slug = $2, tool_name = $3, updated_at = now() where id = $1", [
        agent.id,
        wanted,
        toolName,
      ]);
    }
    return wanted;
  });
}

interface Move {
  /** The state that was read before. */
  readonly revision: string;
  readonly to: string;
}
