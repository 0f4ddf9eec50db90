import { type Request, type RequestHandler, type Response, Router } from "express";
import { ApiError } from "../../shared/errors.ts";
import { sendPublicText } from "../../shared/etag.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Reads } from "../../shared/reads.ts";
import { readFrom } from "../agents/detail.ts";
import { type FindNeeds, findShownAgent } from "../agents/find.ts";
import type { Config } from "../config.ts";
import { readExamples } from "../runs/agent-examples.ts";
import { agentOpenApi } from "./agent/agent-openapi.ts";
import { agentMarkdown } from "./agent/markdown.ts";
import { showAgent } from "./agent/shown-agent.ts";
import { clientPackagePath, readClientPackage } from "./client-package.ts";
import type { Page } from "./page.ts";
import { agentPictureContent, sitePictureContent } from "./share-picture/picture-of.ts";
import { type PictureFile, SharePictures } from "./share-picture/share-pictures.ts";
import { robotsTxt, Sitemap } from "./sitemap/sitemap.ts";

interface Needs extends FindNeeds {
  readonly db: Database;
  readonly reads: Reads;
  readonly config: Pick<Config, "publicUrl">;
}

/** What crawlers, link previews and package managers ask a website for besides its pages. `limit` counts callers as for pages. */
export function siteFiles(needs: Needs, pages: readonly Page[], limit: RequestHandler): Router {
  const { publicUrl } = needs.config;
  const router = Router();
  const pictures = new SharePictures();
  const sitemap = new Sitemap(needs.reads, publicUrl);
  const paths = pages
    .filter(({ path, isPrivate }) => !isPrivate && !path.includes("{") && !/^\/sign-/.test(path))
    .map(({ path }) => path);
  router.get("/robots.txt", limit, (request, response) =>
    sendText(request, response, "text/plain", robotsTxt(publicUrl)),
  );
  router.get("/sitemap.xml", limit, async (request, response) =>
    sendText(request, response, xml, await sitemap.index()),
  );
  router.get("/sitemap-pages.xml", limit, (request, response) =>
    sendText(request, response, xml, sitemap.pages(paths)),
  );
  router.get("/sitemap-:part.xml", limit, async (request, response) => {
    const part = String(request.params.part);
    if (!/^[1-9]\d{0,4}$/.test(part)) throw new ApiError("not_found", "There is no such part of the sitemap.");
    sendText(request, response, xml, await sitemap.agents(Number(part)));
  });
  router.get("/picture.png", limit, async (request, response) => {
    sendPicture(request, response, await pictures.read(sitePictureContent));
  });
  router.get(clientPackagePath, limit, async (request, response) => {
    const { bytes, etag } = await readClientPackage();
    response.setHeader("cache-control", "public, max-age=300").setHeader("etag", etag);
    if (request.headers["if-none-match"] === etag) response.status(304).end();
    else response.type("application/gzip").send(bytes);
  });
  // An agent's page as Markdown, for programs.
  router.get("/:handle/:slug.md", limit, async (request, response) => {
    const address = `${request.params.handle}/${request.params.slug}`;
    const text = await needs.reads.run(async (db) => {
      const { agent, detail } = await showAgent(readFrom(db, needs), address);
      return agentMarkdown(detail, publicUrl, await readExamples(db, agent.id));
    });
    sendPublicText(request, response, { type: "text/markdown; charset=utf-8", text, seconds: agentGoodForSeconds });
  });
  router.get("/:handle/:slug/openapi.json", limit, async (request, response) => {
    const address = `${request.params.handle}/${request.params.slug}`;
    const { detail } = await needs.reads.run((db) => showAgent(readFrom(db, needs), address));
    const text = JSON.stringify(agentOpenApi(detail, publicUrl));
    sendPublicText(request, response, { type: "json", text, seconds: agentGoodForSeconds });
  });
  router.get("/:handle/:slug/picture.png", limit, async (request, response) => {
    const address = `${request.params.handle}/${request.params.slug}`;
    const agent = await needs.reads.run((db) => findShownAgent(readFrom(db, needs), address));
    sendPicture(request, response, await pictures.read(agentPictureContent(agent)));
  });
  return router;
}

const xml = "application/xml";
/** As long as the catalog's: the price of the call itself decides. */
const agentGoodForSeconds = 60;

function sendText(request: Request, response: Response, type: string, text: string): void {
  sendPublicText(request, response, { type, text, seconds: 3_600 });
}

function sendPicture(request: Request, response: Response, { png, etag }: PictureFile): void {
  // Pages of other sites show it.
  response.setHeader("cross-origin-resource-policy", "cross-origin");
  response.setHeader("cache-control", "public, max-age=3600").setHeader("etag", etag);
  if (request.headers["if-none-match"] === etag) response.status(304).end();
  else response.type("png").send(png);
}
