import { ApiError } from "../../../shared/errors.ts";
import type { Reads } from "../../../shared/reads.ts";

/**
 * What search engines are told: an index, the site's own pages, and live agents, some thousands a part. Where a part begins is read
 * once an hour, and a part along one index; copies are kept, and one is read at a time, so that asking for them costs little.
 */
export class Sitemap {
  readonly #reads: Reads;
  readonly #publicUrl: string;
  #begins: { readonly at: number; readonly agentIds: Promise<readonly string[]> } | undefined;
  readonly #parts = new Map<number, { readonly at: number; readonly xml: Promise<string> }>();
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(reads: Reads, publicUrl: string) {
    this.#reads = reads;
    this.#publicUrl = publicUrl;
  }

  async index(): Promise<string> {
    const parts = await this.#agentParts();
    const files = ["/sitemap-pages.xml", ...parts.map((_first, n) => `/sitemap-${n + 1}.xml`)];
    return this.#xml("sitemapindex", "sitemap", files);
  }

  pages(paths: readonly string[]): string {
    return this.#xml("urlset", "url", paths);
  }

  /** The agents of a part, counted from 1, and their creators; 404 where there is no such part. */
  async agents(part: number): Promise<string> {
    const begins = await this.#agentParts();
    const first = begins[part - 1];
    if (first === undefined) throw new ApiError("not_found", "There is no such part of the sitemap.");
    const known = this.#parts.get(part);
    if (known && Date.now() - known.at < freshMs) return known.xml;
    const xml = this.#inTurn(() => this.#read(first, begins[part]));
    this.#parts.delete(part);
    this.#parts.set(part, { at: Date.now(), xml });
    xml.catch(() => this.#parts.delete(part));
    if (this.#parts.size > partsKept) this.#parts.delete(this.#parts.keys().next().value as number);
    return xml;
  }

  async #read(first: string, next: string | undefined): Promise<string> {
    const { rows } = await this.#reads.run((db) =>
      db.query<{ handle: string; slug: string }>(
        `select handle, slug from listings where agent_id >= $1 and ($2::text is null or agent_id < $2) order by agent_id limit $3`,
        [first, next ?? null, rowsMax],
      ),
    );
    const creators = [...new Set(rows.map(({ handle }) => `/${handle}`))];
    return this.#xml("urlset", "url", [...creators, ...rows.map(({ handle, slug }) => `/${handle}/${slug}`)]);
  }

  #agentParts(): Promise<readonly string[]> {
    if (this.#begins && Date.now() - this.#begins.at < freshMs) return this.#begins.agentIds;
    const agentIds = this.#inTurn(() => this.#readBegins());
    this.#begins = { at: Date.now(), agentIds };
    agentIds.catch(() => {
      this.#begins = undefined;
    });
    return agentIds;
  }

  async #readBegins(): Promise<readonly string[]> {
    const { rows } = await this.#reads.run((db) =>
      db.query<{ agent_id: string }>(
        `select agent_id from (select agent_id, row_number() over (order by agent_id) as n from listings) numbered
         where (n - 1) % $1 = 0 order by agent_id`,
        [agentsPerPart],
      ),
    );
    return rows.map(({ agent_id }) => agent_id);
  }

  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    if (this.#waiting >= waitingMax) {
      throw new ApiError("rate_limited", "The sitemap is being read too often.", { headers: { "retry-after": "10" } });
    }
    this.#waiting += 1;
    const result = this.#last.then(read).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = result.catch(() => {});
    return result;
  }

  /** Handles, slugs and page paths have no character that XML or a URL reads otherwise. */
  #xml(root: string, item: string, paths: readonly string[]): string {
    const entries = paths.map((path) => `<${item}><loc>${this.#publicUrl}${path}</loc></${item}>`);
    const space = "http://www.sitemaps.org/schemas/sitemap/0.9";
    return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${space}">\n${entries.join("\n")}\n</${root}>\n`;
  }
}

/** Fewer than the 50,000 that the protocol allows, so that a part is small enough to be kept. */
const agentsPerPart = 5_000;
/** More than a part has, where agents came since its beginnings were read. */
const rowsMax = 20_000;
const freshMs = 3_600_000;
const partsKept = 16;
const waitingMax = 64;

/** What crawlers may read. */
export function robotsTxt(publicUrl: string): string {
  return `User-agent: *
Allow: /api/v1/openapi.json
Disallow: /api/
Disallow: /sign-in
Disallow: /sign-out
Disallow: /*/*/report

Sitemap: ${publicUrl}/sitemap.xml
`;
}
