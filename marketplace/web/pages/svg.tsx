/** @jsxRuntime automatic @jsxImportSource preact */

import { randomUUID } from "node:crypto";
import { ApiError, type ErrorCode } from "../../../shared/errors.ts";
import type { Database } from "../../../shared/postgres.ts";
import type { Config } from "../../config.ts";
import type { Output } from "../../connectors/result.ts";
import { parse } from "../../parse.ts";
import type { FacilitatorClient } from "../../payments/facilitator/client.ts";
import { payableHere } from "../../payments/facilitator/payable-networks.ts";
import { requireShownTo } from "../../sign-in/require-session.ts";
import { freePixelsMax } from "../../svg/free-picture.ts";
import { admitFreeTry, type FreeTryNeeds, traceFree, triesLeft } from "../../svg/free-tries.ts";
import { type SvgOrder, svgProducts } from "../../svg/products.ts";
import { freeTryRequest, generateRequest, traceOptions, vectorizeRequest } from "../../svg/request.ts";
import { customerOf, runSvg, type SvgNeeds, withMarkup } from "../../svg/run-svg.ts";
import { imageBytesMax } from "../../tracer/image/limits.ts";
import { demoWalletPath } from "../demo-wallet.ts";
import type { Page, View, Visit } from "../page.ts";
import { WorkbenchForm } from "../svg/form.tsx";
import { drawOrder, priceShown, text, traceOrder, type Values } from "../svg/orders.ts";
import { type Drawn, type Problem, WorkbenchResult } from "../svg/result.tsx";
import { offerWalletConnect } from "../wallet-connect.tsx";

type WorkbenchNeeds = SvgNeeds &
  FreeTryNeeds & {
    readonly db: Database;
    readonly facilitator: Pick<FacilitatorClient, "supported">;
    readonly config: Pick<Config, "platformWallets" | "publicUrl" | "demoWalletScript" | "walletConnect">;
  };

/** The workbench: pictures traced, and drawings from words. */
export function svgPage(context: WorkbenchNeeds): Page {
  return {
    path: "/svg",
    scriptBytesMax: 40_000,
    show: (visit) => view(context, visit, { values: new FormData() }),
    submit: {
      // The picture, and the rest of the form.
      bytesMax: imageBytesMax + 65_536,
      before: (visit) => refusedBefore(context, visit),
      takeFiles: async (visit, form) => {
        try {
          return await view(context, visit, { values: form, drawn: await made(context, visit, form) });
        } catch (error) {
          return refused(context, visit, form, error);
        }
      },
    },
  };
}

/** What the island needs of the form beside its account: the prices that it shows, in credits, and how large a free picture may be. */
const benchData = {
  "data-bench": "",
  "data-trace": String(svgProducts["svg-vectorize"].price),
  "data-draw": String(svgProducts["svg-generate"].price),
  "data-hd": String(svgProducts["svg-generate-hd"].price),
  "data-free-pixels": String(freePixelsMax),
};

interface State {
  readonly values: Values;
  readonly drawn?: Drawn;
  readonly problem?: Problem;
  readonly status?: number;
  /** What it was asked under, where it is made, and to be asked for again. */
  readonly requestName?: string | undefined;
}

/** A visitor who can pay with nothing but a free try does not upload a picture when none is left. */
async function refusedBefore(context: WorkbenchNeeds, visit: Visit): Promise<View | undefined> {
  if (visit.viewer?.account) return undefined;
  try {
    await admitFreeTry(context, visit.request.ip ?? "");
    return undefined;
  } catch (error) {
    return refused(context, visit, new FormData(), error);
  }
}

async function refused(context: WorkbenchNeeds, visit: Visit, values: Values, error: unknown): Promise<View> {
  // A drawing that fails upstream, or takes too long, costs nothing either: it is said here, where it can be asked again.
  if (!(error instanceof ApiError) || error.code === "internal") throw error;
  const retryAfter = error.headers["retry-after"];
  if (retryAfter !== undefined) visit.response.setHeader("retry-after", retryAfter);
  const { status, message } = error;
  const requestName = text(values, "request_name");
  if (error.body.charged === true) {
    const title = "It is drawn and paid for, and not here yet. Press again for the same.";
    return view(context, visit, { values, problem: { title, message }, status, requestName });
  }
  if (values.get("pay") === "credits" && saysNothingOfBefore.has(error.code)) {
    const problem = { title: message, message: "Press again later: it is drawn and charged once, however often." };
    return view(context, visit, { values, problem, status, requestName });
  }
  const problem = { title: "Nothing was drawn, and nothing was charged.", message };
  return view(context, visit, { values, problem, status });
}

/** What an earlier post of the same form came to, such refusals need not know. */
const saysNothingOfBefore: ReadonlySet<ErrorCode> = new Set([
  "unavailable",
  "rate_limited",
  "unauthenticated",
  "forbidden",
]);

async function made(context: WorkbenchNeeds, visit: Visit, form: FormData): Promise<Drawn> {
  const from = visit.request.ip ?? "";
  const picture = form.get("image");
  const bytes = picture instanceof File ? new Uint8Array(await picture.arrayBuffer()) : new Uint8Array();
  const draws = form.get("make") === "draw";
  if (!draws && bytes.length === 0) throw new ApiError("bad_request", "Choose a picture first.");
  if (!draws && form.get("pay") === "free") {
    if (visit.viewer?.account) await admitFreeTry(context, from);
    const asked = parse(freeTryRequest, traceOrder(form, "-"), "bad_request");
    return traceFree(context, from, bytes, traceOptions(asked));
  }
  const account = visit.viewer?.account;
  if (!account) throw new ApiError("unauthenticated", "Sign in first: it is paid with an account's credits.");
  requireShownTo(account, text(form, "account"));
  const buyer = { accountId: account.id };
  const order: SvgOrder = draws
    ? { ...drawing(form), ...customerOf(buyer) }
    : {
        product: "svg-vectorize",
        request: parse(vectorizeRequest, traceOrder(form, Buffer.from(bytes).toString("base64")), "bad_request"),
        ...customerOf(buyer),
      };
  const agreed = { idempotencyKey: text(form, "request_name"), maxCredits: agreedPrice(form, order) };
  const { result, markup } = await runSvg(context, buyer, order, agreed);
  return withMarkup(context, result.output as Output, markup);
}

/** The price that the form showed; undefined of a form that says none. */
function agreedPrice(form: FormData, { product }: SvgOrder): number | undefined {
  const field = priceShown(product);
  const shown = text(form, field);
  if (shown === undefined) return undefined;
  if (/^\d{1,15}$/.test(shown)) return Number(shown);
  throw new ApiError("bad_request", `"${field}" must be a whole number.`, { body: { field } });
}

function drawing(form: FormData) {
  const request = parse(generateRequest, drawOrder(form), "bad_request");
  return { product: request.hd ? ("svg-generate-hd" as const) : ("svg-generate" as const), request };
}

async function view(
  context: WorkbenchNeeds,
  visit: Visit,
  { values, drawn, problem, status, requestName }: State,
): Promise<View> {
  const { config, db } = context;
  const { viewer, assets, request } = visit;
  const [left, payable] = await Promise.all([
    config.freeTries.perAddress > 0 ? triesLeft(db, config.freeTries, request.ip ?? "") : undefined,
    config.platformWallets.length > 0 ? payableHere(context.facilitator) : ([] as string[]),
  ]);
  const payees = config.platformWallets.filter(({ network }) => payable.includes(network));
  const outside = offerWalletConnect(
    config,
    payees.map(({ network }) => network),
  );
  return {
    status,
    title: "SVG workbench",
    description: "Pictures as SVG: few shapes, smooth curves, true edges. Drop one and see; or draw from a sentence.",
    islands: ["svg-workbench.js"],
    widening: { img: ["blob:"], worker: ["'self'"], trustedTypes: ["tracer"], ...outside.widening },
    body: (
      <div class="wrap page">
        <div class="page-head">
          <div>
            <h1>SVG workbench</h1>
            <p class="dim small">Trace a picture or draw from a sentence. What fails costs nothing.</p>
          </div>
        </div>
        <form
          class="bench"
          method="post"
          action="/svg"
          encType="multipart/form-data"
          data-typed="svg"
          data-filled={values.get("make") === null ? undefined : ""}
          data-account={viewer?.account?.id}
          {...benchData}
        >
          {viewer?.account && <input type="hidden" name="account" value={viewer.account.id} />}
          <WorkbenchForm
            hasAccount={viewer?.account !== undefined}
            triesLeft={left}
            payees={payees}
            sample={assets.url("lighthouse.webp")}
            values={values}
            requestName={requestName || randomUUID()}
          />
          <div
            class="bench-out"
            data-out=""
            data-worker={assets.url("svg-tracer.js")}
            data-origin={config.publicUrl}
            data-drawn={drawn ? "" : undefined}
          >
            <WorkbenchResult drawn={drawn} problem={problem} />
          </div>
        </form>
        {outside.dialog}
        {config.demoWalletScript !== undefined && <script src={demoWalletPath} defer />}
      </div>
    ),
  };
}
