/** @jsxRuntime automatic @jsxImportSource preact */
import type { Request, Response } from "express";
import type { Environment } from "../../shared/networks.ts";
import type { Assets } from "../../shared/page/assets.ts";
import { renderDocument } from "../../shared/page/document.tsx";
import { sendPage } from "../../shared/page/send-page.ts";
import { Layout } from "./layout.tsx";
import type { View } from "./page.ts";

/** What every page is shown in. */
export interface Frame {
  readonly assets: () => Promise<Assets>;
  /** The environments in which this daemon serves networks, the one of its figures first. */
  readonly environments: readonly Environment[];
  /** The environment of a network, by its CAIP-2 id. */
  readonly environmentOf: (network: string) => Environment;
}

/** Browser code of every page. */
export const everyPage = "site.js";

/** Ends the answer with the page, its layout and the headers that protect it. */
export async function sendView(frame: Frame, { request, response, view, env: asked }: Sent): Promise<void> {
  const {
    env = asked,
    title,
    description,
    status = 200,
    isPrivate,
    isPublic = false,
    islands = [],
    section,
    body,
  } = view;
  const html = renderDocument({
    head: { title: `${title} – x402 facilitator`, description, isPrivate },
    assets: await frame.assets(),
    stylesheet: "site.css",
    islands: [everyPage, ...islands],
    body: (
      <Layout env={env} environments={frame.environments} section={section} here={request.originalUrl}>
        {body}
      </Layout>
    ),
  });
  await sendPage(request, response, { html, status, isPublic });
}

interface Sent {
  readonly request: Request;
  readonly response: Response;
  readonly view: View;
  readonly env: Environment;
}
