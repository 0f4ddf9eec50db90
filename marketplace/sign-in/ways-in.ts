import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { Session } from "./sessions.ts";
import type { SignIn } from "./sign-in.ts";

/** The ways in which a person signs in to this account: links to their e-mail address, and providers that vouched for it. */
export async function listWaysIn(db: Queryable, ways: SignIn["ways"], session: Session): Promise<readonly WayIn[]> {
  const { rows } = await db.query<{ id: string; created_at: Date }>(
    `select id, created_at from sign_in_identities where user_id = $1 order by created_at, id limit 20`,
    [session.userId],
  );
  const user = await db.query<{ created_at: Date }>("select created_at from sign_in_users where id = $1", [
    session.userId,
  ]);
  const email = session.email && {
    id: "email",
    kind: "email" as const,
    name: session.email,
    created_at: user.rows[0]?.created_at ?? new Date(),
    works: ways.email,
  };
  const providers = rows.map(({ id, created_at }) => ({
    id,
    kind: "provider" as const,
    name: ways.oidc ?? "single sign-on",
    created_at,
    works: ways.oidc !== null,
  }));
  const all = [...(email ? [email] : []), ...providers];
  const working = all.filter(({ works }) => works).length;
  return all.map((way) => ({ ...way, can_go: way.kind === "provider" && (!way.works || working > 1) }));
}

/**
 * Forgets a provider. Who signs in there with the same e-mail address adds it again. 404 for what is no provider of theirs; 409 for
 * the last way in.
 */
export async function removeWayIn(db: Queryable, ways: SignIn["ways"], session: Session, id: string): Promise<void> {
  const way = (await listWaysIn(db, ways, session)).find((one) => one.id === id);
  if (!way) throw new ApiError("not_found", "There is no such way to sign in.");
  if (!way.can_go) {
    throw new ApiError("conflict", way.kind === "email" ? "The e-mail address stays." : "The last way in cannot go.");
  }
  await db.query("delete from sign_in_identities where id = $1 and user_id = $2", [id, session.userId]);
}

export interface WayIn {
  readonly id: string;
  readonly kind: "email" | "provider";
  readonly name: string;
  readonly created_at: Date;
  /** What is set up here at the moment. */
  readonly works: boolean;
  readonly can_go: boolean;
}
