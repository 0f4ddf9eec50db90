import { ApiError } from "../../shared/errors.ts";
import type { Database, Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import { hasHidden } from "../shown-text.ts";

/** Characters of what a creator says of themselves. */
export const aboutMax = 300;

/** What the account says of itself on its creator's page; null for nothing. */
export async function aboutOf(db: Queryable, id: AccountId): Promise<string | null> {
  const { rows } = await db.query<{ about: string | null }>("select about from accounts where id = $1", [id]);
  return rows[0]?.about ?? null;
}

/**
 * Says something about the account, or nothing any more. Lines and spaces become single spaces. Answers what is said now. 422 for a text
 * that is too long or has characters that are not shown; 409 for an account that is not open.
 */
export async function setAbout(db: Database, id: AccountId, text: string | null): Promise<string | null> {
  const about = (text ?? "").normalize("NFC").replace(/\s+/g, " ").trim();
  if ([...about].length > aboutMax) throw wrong(`must be at most ${aboutMax} characters long`);
  if (hasHidden(about)) throw wrong("has characters that are not shown");
  const { rowCount } = await db.query("update accounts set about = $2 where id = $1 and state = 'open'", [
    id,
    about === "" ? null : about,
  ]);
  if (rowCount === 0) throw new ApiError("conflict", "The account is not open.");
  return about === "" ? null : about;
}

function wrong(problem: string): ApiError {
  return new ApiError("invalid_value", `"about" ${problem}.`, { body: { field: "about" } });
}
