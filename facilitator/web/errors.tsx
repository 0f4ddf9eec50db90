/** @jsxRuntime automatic @jsxImportSource preact */
import type { Request } from "express";
import type { ApiError } from "../../shared/errors.ts";
import type { ErrorPage } from "../../shared/http.ts";
import { ButtonLink } from "../../shared/page/button.tsx";
import { Callout } from "../../shared/page/callout.tsx";
import { type Frame, sendView } from "./frame.tsx";
import type { View } from "./page.ts";

/** Errors as a person with a browser reads them: what happened, whether money moved, and the request's id. */
export function errorPages(frame: Frame): ErrorPage {
  return {
    isWanted: wantsPage,
    send: (error, request, response) => {
      const view = viewOf(error, { path: request.path, id: String(response.locals.requestId) });
      const asked = request.query.env;
      const env = asked === "mainnet" || asked === "testnet" ? asked : (frame.environments[0] ?? "mainnet");
      return sendView(frame, { request, response, view, env });
    },
  };
}

/** Programs get JSON; so does a client that accepts anything, such as curl. */
export function wantsPage(request: Request): boolean {
  return (request.method === "GET" || request.method === "HEAD") && request.accepts(["json", "html"]) === "html";
}

function viewOf(error: ApiError, { path, id }: { path: string; id: string }): View {
  const { status, message } = error;
  const title = status === 404 ? "There is nothing here" : status < 500 ? "That is not possible" : "This page failed";
  return {
    title,
    status,
    isPrivate: true,
    section: "",
    body: (
      <div class="wrap page stack stack-6">
        <p class="code-404" aria-hidden="true">
          {status}
        </p>
        <div class="stack stack-2">
          <h1>{title}</h1>
          <p class="dim said">{message}</p>
        </div>
        <Callout tone="ok" title="No money moved by opening this page">
          {path.startsWith("/tx") && status === 404
            ? "A payment appears here when a server has asked to settle it. One that was just sent may come in a moment: load the page again before you pay anew."
            : "Payments do not depend on these pages."}
        </Callout>
        <div class="row">
          <ButtonLink look="primary" href="/">
            To the overview
          </ButtonLink>
          <ButtonLink href="/transactions">Settlements</ButtonLink>
        </div>
        {status >= 500 && (
          <p class="small faint">
            Request <code>{id}</code>
          </p>
        )}
      </div>
    ),
  };
}
