import type { Queryable } from "../../shared/postgres.ts";
import { grantDays } from "./grants.ts";

const tokensPerPass = 20_000;

/**
 * Revokes the keys of clients that can get no token any more: they held one of the account's slots, and stood there as if the client could
 * still run agents. Then forgets the tokens of clients whose keys were revoked over an hour ago.
 */
export async function endLapsedGrants(db: Queryable): Promise<void> {
  await db.query(
    `update api_keys k set revoked_at = now()
     where client is not null and revoked_at is null and created_at < now() - interval '1 hour' and not exists (
       select from oauth_secrets where key_id = k.id and expires_at > now() and (kind = 'access'
         or used_at is null and k.created_at > now() - interval '${grantDays} days'))`,
  );
  await db.query(
    `delete from oauth_secrets where digest in (
       select s.digest from oauth_secrets s join api_keys k on k.id = s.key_id
       where k.revoked_at < now() - interval '1 hour' limit ${tokensPerPass})`,
  );
}
