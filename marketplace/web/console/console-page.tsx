/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { ApiError } from "../../../shared/errors.ts";
import type { Widening } from "../../../shared/page/policy.ts";
import type { Database } from "../../../shared/postgres.ts";
import type { Account } from "../../accounts/create.ts";
import { readOperator } from "../../admin/operators.ts";
import { NotFreshError } from "../../fresh-session.ts";
import { admitAccountChange, isShownTo } from "../../sign-in/require-session.ts";
import { confirmAt, openAccountPath, signInPath } from "../layout.tsx";
import type { Page, Redirect, Shown, View, Visit } from "../page.ts";
import type { Viewer } from "../viewer.ts";
import { ShownTo } from "./act-field.tsx";
import { ConsoleFrame } from "./console-frame.tsx";
import { type KeptForm, keptForm, signedOut } from "./kept-form.tsx";
import { isForForm, Refusal } from "./refusal.ts";

/**
 * A page for visitors who are signed in and have an open account. All others are led to signing in, or to opening one. Posts of its forms count against
 * the limit of changes; what a verb refuses is shown in the form again.
 */
export interface ConsolePage {
  readonly path: string;
  readonly scriptBytesMax: number;
  /** `refusal`: what was posted and not taken, so that its form comes back filled in, with the error at its field. */
  readonly show: (visit: AccountVisit, refusal?: Refusal) => ConsoleShown | Promise<ConsoleShown>;
  /** What the page's forms do, by their hidden field `act`. A change that was made answers a redirect (`done`). */
  readonly acts?: Readonly<Record<string, Act>>;
  /** What an act is counted against; the limit of changes when left out. 429 past it. */
  readonly admit?: (db: Database, account: Account, form: URLSearchParams) => Promise<void>;
  /** The largest posted form; 16 kB when left out. */
  readonly formBytesMax?: number;
  /** Where its forms lead beside our own pages, by a redirect. */
  readonly leadsTo?: (visit: Visit) => Promise<Widening | undefined>;
  /** What is said after the redirect to `done(path, name)`, by its name. */
  readonly notices?: Readonly<Record<string, string>>;
}

type Act = (visit: AccountVisit, form: URLSearchParams) => ConsoleShown | Promise<ConsoleShown>;

export interface AccountVisit extends Visit {
  readonly viewer: Viewer;
  readonly account: Account;
}

export type ConsoleShown = ConsoleView | Redirect;

export interface ConsoleView extends Omit<View, "isPrivate"> {
  /** Under the heading, a line. */
  readonly lede?: ComponentChildren;
  /** Beside the heading: a button. */
  readonly aside?: ComponentChildren;
  /** `bare` brings its own heading and no side navigation stands beside it. */
  readonly frame?: "bare";
  /** A form asked for something that is not there any more. */
  readonly isLate?: boolean;
}

export interface ConsoleNeeds {
  readonly db: Database;
}

export function consolePage({ db }: ConsoleNeeds, page: ConsolePage): Page {
  const { path, scriptBytesMax, acts, formBytesMax = 16_384 } = page;
  const show = (visit: Visit) => withAccount(visit, async (own) => framed(page, own, await page.show(own)));
  if (!acts) return { path, scriptBytesMax, isPrivate: true, show };
  const keep = async (visit: Visit, form: URLSearchParams, why: Pick<KeptForm, "title" | "lede" | "way">) =>
    keptForm({ path: visit.path, form, ...why, widening: await page.leadsTo?.(visit) });
  const take = async (visit: Visit, form: URLSearchParams) => {
    if (!visit.viewer) return keep(visit, form, signedOut(visit.path));
    return withAccount(visit, async (own) => {
      if (!isShownTo(own.account, form.get("account"))) return keep(visit, form, signedInAsAnother(own.account));
      try {
        return framed(page, own, await act(db, page, own, form));
      } catch (error) {
        if (!(error instanceof NotFreshError)) throw error;
        const operator = await readOperator(db, own.viewer.session);
        const way = operator ? confirmWay(visit.path) : signOutWay;
        return keep(visit, form, {
          title: operator ? "Confirm that it is you" : "Sign in again",
          lede: error.message,
          way,
        });
      }
    });
  };
  return { path, scriptBytesMax, isPrivate: true, show, submit: { bytesMax: formBytesMax, take } };
}

const signedInAsAnother = ({ handle }: Account) => ({
  title: "You are signed in as another account",
  lede: `This form was shown to another account than ${handle}, as which this browser is signed in now. Sign in as the one it is for.`,
  way: signOutWay,
});

const signOutWay = { href: "/sign-out", label: "Sign out and in again" };

/** An operator who signs in again is no fresher. */
const confirmWay = (path: string) => ({ href: confirmAt(path), label: "Confirm" });

/** The page's own address, which says what was done: `/settings/keys?done=revoked`. */
export function done(path: string, notice: string): Redirect {
  return { redirect: `${path}${path.includes("?") ? "&" : "?"}done=${encodeURIComponent(notice)}` };
}

async function withAccount(visit: Visit, go: (own: AccountVisit) => Promise<Shown>): Promise<Shown> {
  const { viewer, request } = visit;
  // A form that was posted leads back to its page, not to its post.
  const here = request.method === "POST" ? visit.path : request.originalUrl;
  if (!viewer) return { redirect: signInPath(here) };
  const { account } = viewer;
  if (!account) return { redirect: `${openAccountPath}?next=${encodeURIComponent(here)}` };
  if (account.state !== "open") {
    throw new ApiError("forbidden", `The account "${account.handle}" is ${account.state}. Ask the operator.`);
  }
  return go({ ...visit, viewer, account });
}

async function act(db: Database, page: ConsolePage, own: AccountVisit, form: URLSearchParams): Promise<ConsoleShown> {
  const name = form.get("act") ?? "";
  try {
    await (page.admit ?? admitAccountChange)(db, own.account, form);
    if (!page.acts || !Object.hasOwn(page.acts, name)) {
      throw new ApiError("bad_request", '"act" names nothing that this page does.');
    }
    return await page.acts[name]!(own, form);
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return withoutWhatIsGone(page, own, error);
    if (!isForForm(error)) throw error;
    const refusal = new Refusal(error, name, form);
    const shown = await page.show(own, refusal);
    if ("redirect" in shown) throw error;
    return { ...shown, status: error.status, headers: { ...error.headers, ...shown.headers } };
  }
}

/** The page as it is now, for a form that names what another tab took away. Where the page itself is gone, that is the answer. */
async function withoutWhatIsGone(page: ConsolePage, own: AccountVisit, error: ApiError): Promise<ConsoleShown> {
  const show = async () => page.show(own);
  const shown = await show().catch(() => undefined);
  if (shown === undefined || "redirect" in shown) throw error;
  return { ...shown, status: shown.status ?? error.status, isLate: shown.status === undefined };
}

/** No cache keeps what is shown of an account, and no search engine lists it. */
function framed({ notices = {} }: ConsolePage, visit: AccountVisit, shown: ConsoleShown): Shown {
  if ("redirect" in shown) return shown;
  const { lede, aside, frame, isLate = false, body, ...view } = shown;
  const said = visit.request.method === "GET" ? (visit.query.get("done") ?? "") : "";
  const notice = Object.hasOwn(notices, said) ? notices[said] : undefined;
  return {
    ...view,
    isPrivate: true,
    headers: { ...view.headers, "cache-control": "no-store" },
    body: (
      <ShownTo.Provider value={visit.account.id}>
        <ConsoleFrame visit={visit} title={view.title} {...{ lede, aside, frame, notice, isLate }}>
          {body}
        </ConsoleFrame>
      </ShownTo.Provider>
    ),
  };
}
