/** @jsxRuntime automatic @jsxImportSource preact */
import type { VNode } from "preact";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Choice, TextField } from "../../../../shared/page/field.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { type Closing, isInTheWay, readClosing } from "../../../accounts/closing.ts";
import { closeOwnAccount } from "../../../accounts/state.ts";
import { creditsOf } from "../../money.tsx";
import type { Page } from "../../page.ts";
import { ActField } from "../act-field.tsx";
import { consolePage } from "../console-page.tsx";
import { freshHint } from "../fresh-hint.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { Losses } from "./data-and-closing.tsx";

const path = "/settings/account/close";

/** Asks before an account is closed, for good, and says what is lost. */
export function closeAccountPage({ db }: { readonly db: Database }): Page {
  return consolePage(
    { db },
    {
      path,
      scriptBytesMax: 4_096,
      show: async ({ account, viewer }, refusal) => {
        const closing = await readClosing(db, account);
        const hint = await freshHint(db, viewer.session, path, "An account is closed");
        return {
          title: "Close the account",
          lede: "For good. There is no way back, and we cannot undo it.",
          body: <Asked handle={account.handle} closing={closing} refusal={refusal} hint={hint} />,
        };
      },
      acts: {
        close: async ({ account, viewer }, form) => {
          const [given = "0"] = /^\d{1,18}$/.exec(form.get("give_up_credits") ?? "") ?? [];
          const asked = { handle: form.get("handle") ?? "", creditsGivenUp: BigInt(given) };
          await closeOwnAccount(db, viewer.session, account, asked);
          return { redirect: closedPath };
        },
      },
    },
  );
}

const closedPath = "/settings/closed";

/** Shown after closing, to a visitor whose session has ended with the account; not to a person who is signed in. */
export function accountClosedPage(): Page {
  return {
    path: closedPath,
    scriptBytesMax: 4_096,
    isPrivate: true,
    show: ({ viewer }) => (viewer ? { redirect: "/settings/account" } : closedView),
  };
}

const closedView = {
  title: "The account is closed",
  isPrivate: true,
  headers: { "cache-control": "no-store" },
  body: (
    <div class="sign">
      <div class="sign-box">
        <h1>The account is closed</h1>
        <p class="dim">
          Its keys answer 401 and its agents are gone. You are signed out everywhere. Paying per call by wallet needs no
          account and still works.
        </p>
        <ButtonLink href="/">To the first page</ButtonLink>
      </div>
    </div>
  ),
} as const;

function Asked({ handle, closing, refusal, hint }: AskedProps) {
  const left = closing.credits + closing.earned;
  return (
    <Card id="closing" title="What happens">
      <Losses closing={closing} />
      <InTheWay closing={closing} />
      {hint}
      {!isInTheWay(closing) && (
        <form class="stack key-form" method="post" action={path}>
          <ActField value="close" />
          <RefusedNote refusal={refusal} fields={["handle"]} />
          {left > 0n && (
            <Choice
              name="give_up_credits"
              value={String(left)}
              label={`I give up ${creditsOf(left)}`}
              help="Spend them first, if you can: earned credits become spendable under Credits."
              required
            />
          )}
          <TextField
            id="handle"
            name="handle"
            label={`Type ${handle} to be sure`}
            required
            autocomplete="off"
            spellcheck={false}
            value={refusal?.value("handle")}
            error={refusal?.at("handle")}
          />
          <div class="row">
            <ButtonLink href="/settings/account">Keep it</ButtonLink>
            <Button look="danger-solid">Close account</Button>
          </div>
        </form>
      )}
    </Card>
  );
}

interface AskedProps {
  readonly hint: VNode | undefined;
  readonly handle: string;
  readonly closing: Closing;
  readonly refusal: Refusal | undefined;
}

/** A wallet's money is on its way: first it arrives. */
function InTheWay({ closing }: { closing: Closing }) {
  const { runs_under_way: runs, held, calls_owed: owed, purchases_under_way: bought } = closing;
  if (!isInTheWay(closing)) return null;
  return (
    <Callout tone="warn" title="Not now: money is on its way">
      {runs > 0 && <p>{runsUnderWay(held)} They end within minutes.</p>}
      {owed > 0 && (
        <p>
          Wallets paid for {owed === 1 ? "a call" : `${owed} calls`} and have no result yet. If the agent failed, mend
          it: its buyers can fetch the result with the same payment. If none comes back, ask the operator.
        </p>
      )}
      {bought > 0 && <p>Credits that you bought have not come yet.</p>}
    </Callout>
  );
}

/** Runs of the account's agents hold their buyers' credits. */
function runsUnderWay(held: bigint): string {
  if (held === 0n) return "Runs are under way, yours or of your agents. Take the agents off the market first.";
  return `Runs are under way and hold ${creditsOf(held)}.`;
}
