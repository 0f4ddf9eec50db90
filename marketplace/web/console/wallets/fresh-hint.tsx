/** @jsxRuntime automatic @jsxImportSource preact */
import type { VNode } from "preact";
import type { Database } from "../../../../shared/postgres.ts";
import { readOperator } from "../../../admin/operators.ts";
import { freshMinutes, isFresh } from "../../../fresh-session.ts";
import type { Session } from "../../../sign-in/sessions.ts";
import { SignInFirst } from "../sign-in-first.tsx";

/** Before a wallet is signed for or removed, what that takes; undefined where the session is fresh. */
export async function freshHint(db: Database, session: Session, path: string): Promise<VNode | undefined> {
  const [fresh, operator] = await Promise.all([isFresh(db, session), readOperator(db, session)]);
  if (fresh) return undefined;
  return (
    <SignInFirst isOperator={operator !== undefined} path={path}>
      {operator
        ? "An operator’s payout wallets are changed after a code or a passkey."
        : `Payout wallets are proved and removed within ${freshMinutes} minutes of signing in.`}
    </SignInFirst>
  );
}
