/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { ApiError } from "../../../shared/errors.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import type { IconName } from "../../../shared/page/icons.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { confirmedMinutes } from "../../admin/confirm.ts";
import { type Operator, readOperator } from "../../admin/operators.ts";
import { admitOperator } from "../../admin/require-operator.ts";
import { countedMax, countOpenReports } from "../../reports/operator-reports.ts";
import { keptForm } from "../console/kept-form.tsx";
import { isForForm, Refusal } from "../console/refusal.ts";
import { confirmAt } from "../layout.tsx";
import type { Page, Redirect, Shown, View, Visit } from "../page.ts";

/**
 * A page for operators who showed a code a moment ago. An operator who has still to show one is led to that page; all others are told
 * that there is nothing. What a verb refuses is shown in the form again.
 */
export interface OperatorPage {
  readonly path: string;
  readonly scriptBytesMax: number;
  readonly show: (visit: OperatorVisit, refusal?: Refusal) => OperatorView | Promise<OperatorView>;
  /** What the page's forms do, by their hidden field `act`. */
  readonly acts?: Readonly<
    Record<string, (visit: OperatorVisit, form: URLSearchParams) => Promise<OperatorView | Redirect>>
  >;
  /** What is said after a redirect to `?done=`, by its name. */
  readonly notices?: Readonly<Record<string, string>>;
}

export interface OperatorVisit extends Visit {
  readonly operator: Operator;
}

export interface OperatorView extends Omit<View, "isPrivate"> {
  readonly lede?: ComponentChildren;
}

export function operatorPage({ db }: { readonly db: Database }, page: OperatorPage): Page {
  const { path, scriptBytesMax, acts } = page;
  const seen = async (own: OperatorVisit, shown: OperatorView | Redirect) =>
    "redirect" in shown ? shown : framed(page, own, shown, await countOpenReports(db));
  const show = (visit: Visit) => withOperator(db, visit, async (own) => seen(own, await page.show(own)));
  if (!acts) return { path, scriptBytesMax, isPrivate: true, show };
  const take = (visit: Visit, form: URLSearchParams) =>
    withOperator(db, visit, async (own) => seen(own, await act(page, own, form)), form);
  return { path, scriptBytesMax, isPrivate: true, show, submit: { bytesMax: 16_384, take } };
}

/** A visitor without the right is answered as where there is no page. */
export async function operatorAt(db: Database, { viewer }: Visit): Promise<Operator> {
  const operator = viewer && (await readOperator(db, viewer.session));
  if (!operator) throw new ApiError("not_found", "There is nothing there.");
  return operator;
}

async function withOperator(
  db: Database,
  visit: Visit,
  go: (own: OperatorVisit) => Promise<Shown>,
  form?: URLSearchParams,
): Promise<Shown> {
  const operator = await operatorAt(db, visit);
  await admitOperator(db, operator);
  const { request, path } = visit;
  if (operator.confirmedUntil) return go({ ...visit, operator });
  if (!form) return { redirect: confirmAt(request.originalUrl) };
  return keptForm({
    path,
    form,
    title: "Show that it is you",
    lede: `More than ${confirmedMinutes} minutes have passed since you did.`,
    way: { href: confirmAt(path), label: "Confirm" },
  });
}

async function act(page: OperatorPage, own: OperatorVisit, form: URLSearchParams): Promise<OperatorView | Redirect> {
  const name = form.get("act") ?? "";
  try {
    if (!page.acts || !Object.hasOwn(page.acts, name)) {
      throw new ApiError("bad_request", '"act" names nothing that this page does.');
    }
    return await page.acts[name]!(own, form);
  } catch (error) {
    if (!isForForm(error)) throw error;
    const shown = await page.show(own, new Refusal(error, name, form));
    return { ...shown, status: error.status, headers: { ...error.headers, ...shown.headers } };
  }
}

function framed({ notices = {} }: OperatorPage, visit: OperatorVisit, shown: OperatorView, openReports: number): Shown {
  const { lede, body, ...view } = shown;
  const said = visit.request.method === "GET" ? (visit.query.get("done") ?? "") : "";
  const notice = Object.hasOwn(notices, said) ? notices[said] : undefined;
  return {
    ...view,
    isPrivate: true,
    headers: { ...view.headers, "cache-control": "no-store" },
    body: (
      <div class="wrap page">
        <div class="shell">
          <SideNavigation here={visit.path} openReports={openReports} />
          <div class="stack stack-8">
            <div class="row between row-4">
              <div class="grow">
                <h1>{view.title}</h1>
                {lede && <p class="dim small">{lede}</p>}
              </div>
              <Badge tone="info" icon="fingerprint">
                confirmed, {timeLeft(visit.operator)} left
              </Badge>
            </div>
            {notice && <Callout tone="ok" role="status" title={notice} />}
            {body}
          </div>
        </div>
      </div>
    ),
  };
}

/** `7 min 40 s`. */
function timeLeft({ confirmedUntil }: Operator, now = Date.now()): string {
  const seconds = Math.max(0, Math.floor(((confirmedUntil?.getTime() ?? now) - now) / 1_000));
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const entries: ReadonlyArray<{ readonly path: string; readonly label: string; readonly icon: IconName }> = [
  { path: "/admin", label: "Find", icon: "search" },
  { path: "/admin/reports", label: "Reports", icon: "warning" },
  { path: "/admin/agents", label: "Agents", icon: "grid" },
  { path: "/admin/accounts", label: "Accounts", icon: "user" },
  { path: "/admin/log", label: "Audit log", icon: "list-checks" },
];

function SideNavigation({ here, openReports }: { here: string; openReports: number }) {
  const open = openReports > countedMax ? `${countedMax}+` : openReports;
  const isHere = (path: string) => here === path || (path !== "/admin" && here.startsWith(`${path}/`));
  return (
    <nav class="side" aria-label="Operator">
      <p class="side-title">Operator</p>
      <ul>
        {entries.map(({ path, label, icon }) => (
          <li>
            <a href={path} aria-current={isHere(path) ? "page" : undefined}>
              <Icon name={icon} />
              {label}
              {path === "/admin/reports" && openReports > 0 && (
                <span class="push">
                  <Badge tone="warn">
                    {open}
                    <span class="vh"> open</span>
                  </Badge>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
