/** @jsxRuntime automatic @jsxImportSource preact */
import type { Request, Response } from "express";
import type { Assets } from "../../shared/page/assets.ts";
import { renderDocument, type Theme } from "../../shared/page/document.tsx";
import { sendPage } from "../../shared/page/send-page.ts";
import { siteName } from "./brand.tsx";
import { Layout, type Standing } from "./layout.tsx";
import type { View } from "./page.ts";
import { sitePicture } from "./share-picture/picture-of.ts";
import type { Viewer } from "./viewer.ts";

/** What every page is shown in. */
export interface Frame {
  readonly publicUrl: string;
  readonly assets: () => Promise<Assets>;
  /** Whether a page or a file is at a path. */
  readonly has: (path: string) => boolean;
  /** Where the facilitator has its own pages. */
  readonly facilitator: string;
  /** How the services are, as was seen last. */
  readonly standing: () => Standing | undefined;
}

/** Browser code of every page. */
export const everyPage = "site.js";

/** Ends the answer with the page, its layout and the headers that protect it. */
export async function sendView(frame: Frame, { request, response, view, viewer }: Sent): Promise<void> {
  const { publicUrl, has } = frame;
  const {
    status = 200,
    headers = {},
    islands = [],
    widening,
    isPublic: maybe,
    body,
    picture,
    type,
    canonical,
    ...head
  } = view;
  const path = canonical ?? request.path;
  const html = renderDocument({
    head: {
      ...head,
      title: head.title === siteName ? siteName : `${head.title} – ${siteName}`,
      canonical: status === 200 ? publicUrl + path : undefined,
      openGraph: status === 200 ? openGraphOf(publicUrl, { picture, type }) : undefined,
    },
    assets: await frame.assets(),
    stylesheet: "site.css",
    islands: [everyPage, ...islands],
    theme: themeOf(request),
    body: (
      <Layout
        here={request.originalUrl}
        viewer={viewer}
        has={has}
        // A page that failed knows better than what was seen last.
        standing={status >= 500 ? undefined : frame.standing()}
        facilitator={frame.facilitator}
      >
        {body}
      </Layout>
    ),
  });
  // A cookie makes a page a visitor's own: it names the session, or the theme.
  const isPublic = maybe === true && viewer === undefined && request.headers.cookie === undefined;
  await sendPage(request, response, { html, status, widening, isPublic, headers });
}

interface Sent {
  readonly request: Request;
  readonly response: Response;
  readonly view: View;
  readonly viewer: Viewer | undefined;
}

function openGraphOf(publicUrl: string, { picture = sitePicture, type }: Pick<View, "picture" | "type">) {
  return { siteName, type, image: { ...picture, url: publicUrl + picture.path } };
}

/** What the person chose by the button in the page's head. */
function themeOf({ headers }: Request): Theme | undefined {
  return /(?:^|; )theme=(light|dark)(?:;|$)/.exec(headers.cookie ?? "")?.[1] as Theme | undefined;
}
