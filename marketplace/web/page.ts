import type { Request, Response } from "express";
import type { ComponentChildren } from "preact";
import type { Assets } from "../../shared/page/assets.ts";
import type { Head } from "../../shared/page/document.tsx";
import type { Widening } from "../../shared/page/policy.ts";
import type { Reads } from "../../shared/reads.ts";
import type { Viewer } from "./viewer.ts";

/** A page of the website: where it is and what it shows. Rules stand in the verbs that it calls, as for the API. */
export interface Page {
  /** Written as endpoints write it: `/{handle}/{slug}`. */
  readonly path: string;
  /** Gzipped bytes of JavaScript that it may load, at most; a test holds it to that. */
  readonly scriptBytesMax: number;
  /** For visitors who are signed in: no sitemap names it. */
  readonly isPrivate?: boolean;
  /** Throws ApiError for what cannot be shown: the site turns it into a page that helps. */
  readonly show: (visit: Visit) => Shown | Promise<Shown>;
  /** What a form of the page does that is posted to the page's own address. It works without JavaScript. */
  readonly submit?: Submit | SubmitWithFiles;
}

export interface Submit {
  readonly bytesMax: number;
  readonly take: (visit: Visit, form: URLSearchParams) => Shown | Promise<Shown>;
}

/** A form that a file may be part of. */
export interface SubmitWithFiles {
  readonly bytesMax: number;
  /** Before anything of the form is read, so that no visitor uploads for nothing; what it shows is shown instead. */
  readonly before?: (visit: Visit) => Promise<Shown | undefined>;
  readonly takeFiles: (visit: Visit, form: FormData) => Shown | Promise<Shown>;
}

export type Shown = View | Redirect;

export interface View extends Omit<Head, "canonical" | "openGraph" | "alternates"> {
  readonly status?: number | undefined;
  /** The page's own address, as a path; its path without the query when left out. */
  readonly canonical?: string | undefined;
  /** The page's content in other forms, as paths. */
  readonly alternates?: Head["alternates"];
  /** The picture that stands for it where it is shared, as a path. */
  readonly picture?: Picture | undefined;
  readonly type?: "website" | "article" | "profile" | undefined;
  /** Browser code by the names of its files in islands/: `search.js`. */
  readonly islands?: readonly string[] | undefined;
  /** Permissions of this page beyond those of every page. */
  readonly widening?: Widening | undefined;
  /** All visitors who are not signed in get the page alike, so that shared caches may keep it for a second. */
  readonly isPublic?: boolean | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: ComponentChildren;
}

interface Picture {
  readonly path: string;
  readonly width: number;
  readonly height: number;
  readonly alt: string;
}

export interface Redirect {
  /** A path of this service, or another whole address. */
  readonly redirect: string;
}

/** One request for a page. */
export interface Visit {
  readonly request: Request;
  readonly response: Response;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The person who is signed in. */
  readonly viewer: Viewer | undefined;
  /** Reads data that may be a moment old, for visitors who are not signed in; a signed-in person sees at once what they have done. */
  readonly read: Reads["run"];
  /** Whether the site has a page there, by its path as it is declared: nothing links to what there is not. */
  readonly has: (path: string) => boolean;
  /** Where pictures and islands lie. */
  readonly assets: Assets;
}
