/** @jsxRuntime automatic @jsxImportSource preact */
import type { Request, Response } from "express";
import type { ComponentChildren } from "preact";
import type { ApiError } from "../../shared/errors.ts";
import type { ErrorPage } from "../../shared/http.ts";
import { ButtonLink } from "../../shared/page/button.tsx";
import { Callout } from "../../shared/page/callout.tsx";
import { Card } from "../../shared/page/card.tsx";
import { Copy } from "../../shared/page/copy.tsx";
import { KeyValues } from "../../shared/page/table.tsx";
import { Time } from "../../shared/page/time.tsx";
import { type ListedAgent, listAgents } from "../agents/list.ts";
import { listQuery } from "../agents/list-query.ts";
import { paths } from "../oauth/metadata.ts";
import { nextOf } from "../sign-in/enter.ts";
import { oidcCallbackPath } from "../sign-in/single-sign-on.ts";
import { AgentCard } from "./agent/agent-card.tsx";
import { type Frame, sendView } from "./frame.tsx";
import { signInPath } from "./layout.tsx";
import type { View } from "./page.ts";
import { type ViewerNeeds, viewerOf } from "./viewer.ts";

/** Errors as a person reads them: similar pages, whether money moved, and the request's id. */
export function errorPages(frame: Frame, needs: ViewerNeeds): ErrorPage {
  return {
    isWanted,
    send: async (error, request, response) => {
      if (error.code === "unauthenticated" && request.method === "GET") {
        return response.redirect(303, signInAgain(request));
      }
      // The page of a failure must not fail again because the visitor's session cannot be read.
      const viewer = await viewerOf(needs, request, response).catch(() => undefined);
      const near = error.code === "not_found" ? await nearTo(request.path, needs.db, frame.publicUrl) : nothing;
      await sendView(frame, { request, response, viewer, view: viewOf(error, request, response, near) });
    },
  };
}

const nothing: Offered = { title: "", agents: [] };

/** Programs get JSON, as everywhere; so does a client that accepts anything, such as curl. */
function isWanted(request: Request): boolean {
  if (request.path.startsWith("/api/") && !browserPaths.has(request.path)) return false;
  return request.accepts(["json", "html"]) === "html";
}

/** Paths of the API that browsers are sent to by other sites. */
const browserPaths: ReadonlySet<string> = new Set([oidcCallbackPath, paths.authorize]);

function signInAgain({ path, originalUrl }: Request): string {
  return path === oidcCallbackPath ? "/sign-in?refused=provider" : signInPath(originalUrl);
}

/** What a page that is not there offers instead. */
interface Offered {
  readonly title: string;
  readonly agents: readonly ListedAgent[];
}

/** Agents that the words of an address could mean, or else those that are run most; none while they cannot be looked for. */
async function nearTo(path: string, db: ViewerNeeds["db"], publicUrl: string): Promise<Offered> {
  const list = async (asked: object) => {
    const page = await listAgents({ db, publicUrl }, listQuery.parse({ limit: "4", ...asked })).catch(() => undefined);
    return page?.agents ?? [];
  };
  const q = wordsOf(path);
  const near = q === "" ? [] : await list({ q });
  if (near.length > 0) return { title: "What is near", agents: near };
  return { title: "Run most at the moment", agents: await list({ sort: "most_run" }) };
}

/**
 * The page that was asked for, never another site: `//evil.example` is a path to us and an address to a browser. What a provider sent is
 * good once.
 */
function againPath({ method, path, originalUrl }: Request): string {
  if (path === oidcCallbackPath) return signInPath("/");
  const page = nextOf(path, "/");
  return method === "GET" ? nextOf(originalUrl, page) : page;
}

/** An address begins with words and can go on without an end. */
function wordsOf(path: string): string {
  return path
    .slice(0, 100)
    .replaceAll(/%[0-9a-f]{2}|[^\p{L}\p{N}]+/giu, " ")
    .trim();
}

function viewOf(error: ApiError, request: Request, response: Response, near: Offered): View {
  const { status, message } = error;
  const id = String(response.locals.requestId);
  const common = { status, isPrivate: true };
  if (status === 404)
    return { ...common, title: "Not found", body: <NotFound path={request.path.slice(0, 200)} near={near} /> };
  if (status >= 500)
    return {
      ...common,
      title: "Something failed here",
      body: <Failed {...{ status, message, id }} path={request.path} again={againPath(request)} />,
    };
  const back = browserPaths.has(request.path) ? undefined : nextOf(request.path, "/");
  return {
    ...common,
    title: "Not possible",
    body: <Refused {...{ status, message, back }} isPosted={request.method === "POST"} />,
  };
}

function NotFound({ path, near }: { path: string; near: Offered }) {
  const words = wordsOf(path);
  return (
    <Problem
      status={404}
      title="There is nothing here"
      said={
        <>
          Nothing is at <code class="icode">{path}</code>. It may have moved, or the address has a typo.
        </>
      }
      aside={near.agents.length > 0 && <Near {...near} />}
    >
      <Callout tone="ok" title="No money moved by opening this page" />
      <div class="row">
        {words && (
          <ButtonLink look="primary" href={`/explore?q=${encodeURIComponent(words)}`}>
            Search for “{words.slice(0, 40)}”
          </ButtonLink>
        )}
        <ButtonLink href="/">To the start</ButtonLink>
      </div>
    </Problem>
  );
}

function Near({ title, agents }: Offered) {
  return (
    <section class="stack" aria-labelledby="near">
      <h2 id="near">{title}</h2>
      <div class="grid">
        {agents.map((agent) => (
          <AgentCard agent={agent} under="h3" />
        ))}
      </div>
    </section>
  );
}

interface FailedProps {
  readonly status: number;
  readonly message: string;
  readonly id: string;
  readonly path: string;
  readonly again: string;
}

function Failed({ status, message, id, path, again }: FailedProps) {
  const isAway = status === 503;
  return (
    <Problem
      status={status}
      title={isAway ? "Not possible right now" : "This page failed"}
      said={isAway ? message : "The fault is ours and was noted."}
      aside={
        <Card
          id="request"
          title="If it stays"
          foot={isAway ? whatWorks : "The API and payments do not depend on this page."}
        >
          <p class="small dim">Send us this id. It finds what happened, and holds nothing that you entered.</p>
          <div class="once-key">
            <output id="request-id" aria-label="Request id">
              {id}
            </output>
            <Copy label="Copy request id" text={id} />
          </div>
          <KeyValues
            entries={[
              ["When", <Time at={new Date()} show="moment" />],
              ["Page", <code>{path}</code>],
            ]}
          />
        </Card>
      }
    >
      <Callout tone="ok" title="No money moved by opening this page">
        A run or payment that was going on goes on.
      </Callout>
      <div class="row">
        <ButtonLink look="primary" icon="retry" href={again}>
          Try again
        </ButtonLink>
        <ButtonLink href="/">To the start</ButtonLink>
      </div>
    </Problem>
  );
}

const whatWorks = (
  <>
    What works and what does not:{" "}
    <a class="link" href="/status">
      Status
    </a>
  </>
);

interface RefusedProps {
  readonly status: number;
  readonly message: string;
  readonly back: string | undefined;
  /** A form was: what it asked for may be going on since an earlier post of it. */
  readonly isPosted: boolean;
}

function Refused({ status, message, back, isPosted }: RefusedProps) {
  return (
    <Problem status={status} title={status === 429 ? "Too many requests" : "That is not possible"} said={message}>
      <Callout tone="ok" title={isPosted ? "Nothing was charged for this attempt" : "Nothing was charged"}>
        {isPosted && "A run or payment that was going on goes on."}
      </Callout>
      <div class="row">
        {back && (
          <ButtonLink look="primary" href={back}>
            Back to the page
          </ButtonLink>
        )}
        <ButtonLink href="/">To the start</ButtonLink>
      </div>
    </Problem>
  );
}

function Problem({ status, title, said, aside, children }: ProblemProps) {
  return (
    <div class="wrap page">
      <div class="cols cols-5-7">
        <div class="stack stack-6">
          <p class="code-404" aria-hidden="true">
            {status}
          </p>
          <div>
            <h1>{title}</h1>
            <p class="dim">{said}</p>
          </div>
          {children}
        </div>
        {aside}
      </div>
    </div>
  );
}

interface ProblemProps {
  readonly status: number;
  readonly title: string;
  readonly said: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}
