/** @jsxRuntime automatic @jsxImportSource preact */
import { Empty } from "../../../../shared/page/empty.tsx";
import { Pagination } from "../../../../shared/page/pagination.tsx";
import { Table } from "../../../../shared/page/table.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { type AccountAct, accountActsQuery, listActsOn } from "../../../admin/acts.ts";
import { readQuery } from "../../../query.ts";
import { creditsOf } from "../../money.tsx";
import type { Page } from "../../page.ts";
import { consolePage } from "../console-page.tsx";

const path = "/settings/operator-acts";

/** What operators did that concerned the account. */
export function operatorActsPage({ db }: { readonly db: Database }): Page {
  return consolePage(
    { db },
    {
      path,
      scriptBytesMax: 4_096,
      show: async ({ account, query }) => {
        const cursor = query.get("cursor") ?? "";
        const page = await listActsOn(db, account.id, readQuery(accountActsQuery, { cursor, limit: "50" }));
        return {
          title: "Operators’ acts",
          lede: "Whatever an operator of this service looked up or changed that concerned your account. Nothing is ever taken out of it.",
          body: (
            <div class="stack">
              {page.acts.length === 0 ? (
                <Empty icon="shield" title="No operator did anything here" under="h2">
                  Searches, suspensions, grants and inputs that were read appear here, with the reason you are told.
                </Empty>
              ) : (
                <div class="card">
                  <ActsTable acts={page.acts} />
                </div>
              )}
              {(page.cursor || cursor) && (
                <Pagination
                  label="Pages"
                  said={`${page.acts.length} acts, newest first`}
                  first={cursor ? path : undefined}
                  next={page.cursor ? `${path}?cursor=${page.cursor}` : undefined}
                />
              )}
            </div>
          ),
        };
      },
    },
  );
}

const words: Readonly<Record<AccountAct["act"], string>> = {
  named: "made an operator",
  removed: "no operator any more",
  confirmed: "confirmed",
  found: "found in a search",
  read_input: "input read",
  suspended_account: "account suspended",
  restored_account: "account restored",
  suspended_agent: "agent suspended",
  restored_agent: "agent restored",
  granted: "granted",
  resolved_report: "report resolved",
  ended_share: "shared link ended",
  noted: "noted",
};

function ActsTable({ acts }: { acts: readonly AccountAct[] }) {
  return (
    <Table
      label="What operators did, newest first"
      rows={acts}
      columns={[
        { head: "UTC", cell: ({ at }) => <Time at={at} show="moment" /> },
        {
          head: "Act",
          cell: ({ act, credits, reason }) => (
            <>
              {credits === null ? words[act] : `${words[act]} ${creditsOf(credits)}`}
              {reason && <span class="cell-2 only-s">{reason}</span>}
            </>
          ),
        },
        { head: "On", cell: ({ subject }) => (subject ? <span class="mono">{subject}</span> : "–") },
        { head: "Reason", hide: "small", cell: ({ reason }) => reason ?? "–" },
      ]}
    />
  );
}
