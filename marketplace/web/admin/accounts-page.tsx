/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { Button } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { TextField } from "../../../shared/page/field.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { Stats } from "../../../shared/page/stats.tsx";
import { Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { grantAs, grantedPerDayMax, grantedToday, moveAccountAs } from "../../admin/act-on.ts";
import { accountsQuery, type ListedAccount, listAccounts } from "../../admin/lists.ts";
import { newId } from "../../ids.ts";
import { readQuery } from "../../query.ts";
import { type Refusal, wholeNumber } from "../console/refusal.ts";
import { RefusedNote } from "../console/refused-note.tsx";
import type { Page } from "../page.ts";
import { listPage, StateBadge } from "./list-page.tsx";
import { askedMove, MoveForm } from "./move-form.tsx";
import { operatorPage } from "./operator-page.tsx";

/** Accounts in any state. */
export function allAccountsPage({ db }: { readonly db: Database }): Page {
  return listPage(db, {
    path: "/admin/accounts",
    title: "Accounts",
    label: "Handle begins with",
    states: ["open", "suspended", "closed"],
    one: "account",
    list: async (asked) => {
      const { accounts: rows, cursor } = await listAccounts(db, readQuery(accountsQuery, asked));
      return { rows, cursor };
    },
    table: (accounts) => <AccountTable accounts={accounts} />,
  });
}

function AccountTable({ accounts }: { accounts: readonly ListedAccount[] }) {
  return (
    <div class="card">
      <Table
        label="Accounts"
        rows={accounts}
        columns={[
          {
            head: "Account",
            cell: ({ handle, is_operator }) => (
              <span class="row row-tight">
                <a class="link mono" href={`/admin/accounts/${handle}`}>
                  {handle}
                </a>
                {is_operator && <Badge tone="warn">operator</Badge>}
              </span>
            ),
          },
          { head: "State", cell: ({ state }) => <StateBadge state={state} /> },
          { head: "Credits", isNumber: true, hide: "small", cell: ({ credits }) => figures(credits) },
          { head: "Agents", isNumber: true, hide: "small", cell: ({ agents }) => agents },
          { head: "Since", hide: "medium", cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </div>
  );
}

/** One account: what it has, a grant, and the form that changes its state. */
export function oneAccountPage({ db }: { readonly db: Database }): Page {
  return operatorPage(
    { db },
    {
      path: "/admin/accounts/{handle}",
      scriptBytesMax: 4_096,
      notices: {
        granted: "The credits are granted.",
        suspended: "The account is suspended. Its keys are refused and its agents cannot be run.",
        open: "The account is restored.",
      },
      show: async ({ params }, refusal) => {
        const [account, today] = await Promise.all([accountAt(db, String(params.handle)), grantedToday(db)]);
        return {
          title: account.handle,
          lede: "Every act is in the audit log; the account sees its acts, without notes.",
          body: (
            <div class="stack stack-6">
              <AccountStats account={account} />
              {account.state === "closed" ? (
                <p class="small dim">The account is closed, for good.</p>
              ) : (
                <div class="cols cols-2 cols-even">
                  <GrantForm today={today} refusal={refusal} />
                  <MoveForm
                    what="account"
                    move={account.state === "suspended" ? "restore" : "suspend"}
                    effect={
                      account.state === "suspended"
                        ? "Its keys work again and its agents can be run."
                        : "From the next call on its keys are refused and its agents cannot be run. Runs under way are finished."
                    }
                    refusal={refusal}
                  />
                </div>
              )}
            </div>
          ),
        };
      },
      acts: {
        grant: async ({ params, operator }, form) => {
          const credits = wholeNumber(form, "credits");
          const said = { credits, note: form.get("note") ?? "", reference: form.get("reference") ?? "" };
          const { account } = await grantAs(db, operator, String(params.handle), said);
          return { redirect: `/admin/accounts/${account}?done=granted` };
        },
        move: async ({ params, operator }, form) => {
          const { handle, state } = await moveAccountAs(db, operator, String(params.handle), askedMove(form));
          return { redirect: `/admin/accounts/${handle}?done=${state}` };
        },
      },
    },
  );
}

function AccountStats({ account }: { account: ListedAccount }) {
  return (
    <Stats
      stats={[
        {
          name: "State",
          value: account.state,
          note: (
            <>
              made <Time at={account.created_at} />
            </>
          ),
        },
        {
          name: "Spendable",
          value: figures(account.credits),
          unit: "credits",
          note: `${figures(account.held_credits)} held`,
        },
        { name: "Earned", value: figures(account.earned_credits), unit: "credits", note: "not moved yet" },
        { name: "Agents", value: figures(account.agents), note: "in any state" },
      ]}
    />
  );
}

function GrantForm({ today, refusal }: { today: number; refusal: Refusal | undefined }) {
  const refused = refusal?.act === "grant" ? refusal : undefined;
  return (
    <Card id="grant" title="Grant credits" bare>
      <form class="card-body stack" method="post" data-busy="Granting">
        <input type="hidden" name="act" value="grant" />
        {/* Made when the form is shown, so that sending it twice grants once; told so, one may grant once more. */}
        <input
          type="hidden"
          name="reference"
          value={(!refused?.at("reference") && refused?.value("reference")) || newId("grt")}
        />
        <p class="small dim">
          {figures(today)} of {figures(grantedPerDayMax)} granted today, by all operators together.
        </p>
        <RefusedNote refusal={refused} fields={["credits", "note"]} />
        <TextField
          id="credits"
          name="credits"
          label="Credits"
          inputMode="numeric"
          required
          help={`1 to ${figures(grantedPerDayMax)}.`}
          value={refused?.value("credits")}
          error={refused?.at("credits")}
        />
        <TextField
          id="grant-note"
          name="note"
          label="Note"
          required
          help="Why. For operators alone."
          maxLength={2_000}
          value={refused?.value("note")}
          error={refused?.at("note")}
        />
        <div class="row">
          <Button look="primary">Grant</Button>
        </div>
      </form>
    </Card>
  );
}

async function accountAt(db: Database, handle: string): Promise<ListedAccount> {
  const { accounts } = await listAccounts(db, readQuery(accountsQuery, {}), handle);
  const found = accounts[0];
  if (!found) throw new ApiError("not_found", `There is no account "${handle}".`);
  return found;
}
