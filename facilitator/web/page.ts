import type { Request } from "express";
import type { ComponentChildren } from "preact";
import type { Environment } from "../../shared/networks.ts";
import type { Assets } from "../../shared/page/assets.ts";

/** A page of the daemon: where it is and what it shows. Rules stand in the verbs that it calls, as for the API. */
export interface Page {
  /** Written as endpoints write it: `/tx/{id}`. */
  readonly path: string;
  /** Programs get JSON at the same path, and only requests for HTML get the page. */
  readonly isAlsoJson?: boolean;
  /** Gzipped bytes of JavaScript that it may load, at most; a test holds it to that. */
  readonly scriptBytesMax: number;
  /** Throws ApiError for what cannot be shown: the site makes a page of it. */
  readonly show: (visit: Visit) => Shown | Promise<Shown>;
}

export type Shown = View | Redirect | Raw;

export interface View {
  readonly title: string;
  readonly description?: string | undefined;
  readonly status?: number;
  /** Which of the main links it belongs to: `/transactions`. */
  readonly section: string;
  /** The environment that the page shows, where it is not the one asked for. */
  readonly env?: Environment;
  /** Shared caches may keep it for a second. Not where a program gets JSON at the same path: some caches do not tell the two apart. */
  readonly isPublic?: boolean;
  /** Kept out of search engines. */
  readonly isPrivate?: boolean;
  /** Browser code by the names of its files in islands/. */
  readonly islands?: readonly string[];
  readonly body: ComponentChildren;
}

export interface Redirect {
  /** A path of this service. */
  readonly redirect: string;
}

/** A file that is no page: CSV, a picture. */
export interface Raw {
  readonly type: string;
  readonly content: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request for a page. A visitor has no account here, and no cookie. */
export interface Visit {
  readonly request: Request;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The environment whose figures are asked for. */
  readonly env: Environment;
  /** Where the caller found this service: `https://pay.example.com`. */
  readonly origin: string;
  readonly assets: Assets;
}
