/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink, GoLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import { Table } from "../../../shared/page/table.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { actsQuery, listActs } from "../../admin/acts.ts";
import { type FindNeeds, type Found, find } from "../../admin/find.ts";
import { readInputAs } from "../../admin/read-input.ts";
import { readQuery } from "../../query.ts";
import { listReports, type Report } from "../../reports/operator-reports.ts";
import { isForForm, Refusal } from "../console/refusal.ts";
import { RefusedNote } from "../console/refused-note.tsx";
import type { Page } from "../page.ts";
import { FoundThings } from "./found.tsx";
import { StateBadge } from "./list-page.tsx";
import { ActTable } from "./log-page.tsx";
import { type OperatorPage, type OperatorVisit, operatorPage } from "./operator-page.tsx";

/** An operator's first page: search by any id, the open reports, and the latest acts. */
export function findPage(needs: FindNeeds): Page {
  const { db } = needs;
  const show: OperatorPage["show"] = async (visit, refusal) => {
    const id = visit.query.get("id")?.trim() ?? "";
    const [found, refused] = id === "" ? [undefined, refusal] : await searched(needs, visit, id, refusal);
    return {
      title: "Find",
      lede: "Any id of a payment, run, account, key or agent, of both services, or of a request that failed.",
      status: refused?.error.status,
      body: (
        <>
          <SearchForm id={id} refusal={refused} />
          {found && <Answer found={found} id={id} refusal={refusal} />}
          {!found && <Overview reports={(await listReports(db, { all: false, limit: 10 })).reports} />}
          {!found && (await latestOf(db))}
        </>
      ),
    };
  };
  return operatorPage(
    { db },
    {
      path: "/admin",
      scriptBytesMax: 4_096,
      show,
      acts: {
        read_input: async ({ operator }, form) => {
          const { run_id, input } = await readInputAs(db, operator, form.get("run") ?? "", {
            note: form.get("note") ?? "",
          });
          return {
            title: "Input",
            lede: "Reading it is in the audit log, and its buyer sees that it was read.",
            body: <Input run={run_id} input={input} />,
          };
        },
      },
    },
  );
}

async function searched(
  needs: FindNeeds,
  { operator }: OperatorVisit,
  id: string,
  refusal: Refusal | undefined,
): Promise<[Found | undefined, Refusal | undefined]> {
  try {
    return [await find(needs, operator, id), refusal];
  } catch (error) {
    if (!isForForm(error)) throw error;
    return [undefined, new Refusal(error, "find", new URLSearchParams({ id }))];
  }
}

function SearchForm({ id, refusal }: { id: string; refusal: Refusal | undefined }) {
  const error = refusal?.act === "find" ? refusal : undefined;
  return (
    <form class="stack stack-2" action="/admin">
      <div class="with-icon with-btn">
        <Icon name="search" />
        <label class="vh" for="id">
          Id
        </label>
        <input
          class="input input-lg mono"
          id="id"
          name="id"
          value={id}
          maxLength={200}
          spellcheck={false}
          aria-describedby="id-help"
          required
        />
        <Button look="primary">Find</Button>
      </div>
      <RefusedNote refusal={error} />
      <p class="help" id="id-help">
        run_ key_ agt_ acc_ rpt_, a handle, handle/slug, transaction, EVM nonce, asset:payer:nonce, quote, wallet, mail
        address, the id of a request that failed here. Each search is in the audit log.
      </p>
    </form>
  );
}

function Answer({ found, id, refusal }: { found: Found; id: string; refusal: Refusal | undefined }) {
  const isNothing = Object.values(found).every((part) => part.length === 0);
  if (isNothing) {
    return (
      <Empty icon="search" title="Neither service knows it" under="h2">
        Payments without their key are looked for in the last three days. asset:payer:nonce finds an EVM payment of any
        age.
      </Empty>
    );
  }
  return <FoundThings found={found} id={id} refusal={refusal?.act === "read_input" ? refusal : undefined} />;
}

function Overview({ reports }: { reports: readonly Report[] }) {
  return (
    <section class="stack" aria-labelledby="reported">
      <div class="row between">
        <h2 id="reported">Reported agents</h2>
        <GoLink href="/admin/reports">All reports</GoLink>
      </div>
      {reports.length === 0 ? (
        <p class="small dim">Nothing is open.</p>
      ) : (
        <div class="card">
          <Table
            label="Reported agents (table)"
            rows={reports}
            columns={[
              {
                head: "Agent",
                cell: ({ agent }) => (
                  <a class="link mono" href={`/admin/agents/${agent}`}>
                    {agent}
                  </a>
                ),
              },
              { head: "Says", cell: ({ text }) => (text.length > 80 ? `${text.slice(0, 80)}…` : text) },
              { head: "State", hide: "small", cell: ({ state }) => <StateBadge state={state} /> },
              { head: <span class="vh">Act</span>, isNumber: true, cell: ReportActs },
            ]}
          />
        </div>
      )}
    </section>
  );
}

function ReportActs({ id, agent, state }: Report) {
  return (
    <span class="row row-tight">
      <ButtonLink size="small" look="ghost" class="hide-s" href={`/admin/reports#${id}`}>
        Read
      </ButtonLink>
      <ButtonLink size="small" look={state === "suspended" ? undefined : "danger"} href={`/admin/agents/${agent}`}>
        {state === "suspended" ? "Restore" : "Suspend"}
      </ButtonLink>
    </span>
  );
}

async function latestOf(db: Database) {
  const { acts } = await listActs(db, readQuery(actsQuery, { limit: "5" }));
  return (
    <Card id="log" title="Audit log" aside={<GoLink href="/admin/log">All</GoLink>} bare>
      <ActTable acts={acts} />
    </Card>
  );
}

function Input({ run, input }: { run: string; input: Readonly<Record<string, string | number | boolean>> }) {
  return (
    <Card id="input" title={<span class="mono">{run}</span>}>
      <dl class="kv kv-lines">
        {Object.entries(input).map(([name, value]) => (
          <>
            <dt>
              <code>{name}</code>
            </dt>
            <dd class="result-text">{String(value)}</dd>
          </>
        ))}
      </dl>
      <div class="row">
        <ButtonLink href={`/admin?id=${encodeURIComponent(run)}`}>Back to the run</ButtonLink>
      </div>
    </Card>
  );
}
