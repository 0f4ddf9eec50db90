/** @jsxRuntime automatic @jsxImportSource preact */
import type { VNode } from "preact";
import type { Database } from "../../../shared/postgres.ts";
import { readOperator } from "../../admin/operators.ts";
import { freshMinutes, isFresh } from "../../fresh-session.ts";
import type { Session } from "../../sign-in/sessions.ts";
import { SignInFirst } from "./sign-in-first.tsx";

/** Before something is done that takes a fresh session (`what` reads on: "An account is closed"), what it takes; undefined where the session is fresh. */
export async function freshHint(
  db: Database,
  session: Session,
  path: string,
  what: string,
): Promise<VNode | undefined> {
  const [fresh, operator] = await Promise.all([isFresh(db, session), readOperator(db, session)]);
  if (fresh) return undefined;
  return (
    <SignInFirst isOperator={operator !== undefined} path={path}>
      {operator
        ? `${what} after an operator’s code or passkey.`
        : `${what} within ${freshMinutes} minutes of signing in.`}
    </SignInFirst>
  );
}
