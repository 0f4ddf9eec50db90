import { ApiError } from "../../../shared/errors.ts";
import type { Queryable } from "../../../shared/postgres.ts";
import { admitOrRefuse } from "../../admit-or-refuse.ts";
import type { AccountId } from "../../ids.ts";
import type { ServicesConfig } from "../config.ts";
import { Endpoint, EndpointSilentError } from "../endpoint.ts";
import { notNow, otherActsSeconds, RefusalError } from "../refusal.ts";

/** X API v2, read only: https://docs.x.com/x-api/posts/post-lookup-by-post-id */
export class XClient {
  readonly #endpoint: Endpoint;
  readonly #hasToken: boolean;
  readonly #claimsPerCreator: number;
  readonly #db: Queryable;

  constructor({ baseUrl, token, claimsPerCreator }: ServicesConfig["x"], db: Queryable) {
    this.#hasToken = token !== undefined;
    this.#claimsPerCreator = claimsPerCreator;
    this.#db = db;
    this.#endpoint = new Endpoint(baseUrl, () => (token ? { authorization: `Bearer ${token.reveal()}` } : {}));
  }

  /**
   * Counts a claim of a creator's agents, over all copies, before posts are read for it: X allows the operator so many reads, and sells
   * them, while a claim that fails costs its caller nothing, who therefore has a part of them alone. Throws RefusalError for one too
   * many.
   */
  async admitClaim(creator: AccountId, caller: string | undefined): Promise<void> {
    if (this.#claimsPerCreator === 0) return;
    const ofCaller = Math.ceil(this.#claimsPerCreator / callersAtLeast);
    if (caller !== undefined) await this.#admit(`x-claims:${creator}:${caller}`, ofCaller, tooManyOfCaller(ofCaller));
    await this.#admit(`x-claims:${creator}`, this.#claimsPerCreator, tooManyClaims);
  }

  async #admit(subject: string, perMinute: number, message: string): Promise<void> {
    await admitOrRefuse(this.#db, subject, perMinute, message).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === "rate_limited")) throw error;
      throw new RefusalError("rate_limited", error.message, {
        retryAfterSeconds: Number(error.headers["retry-after"]),
      });
    });
  }

  /** The post with its author, or a sentence saying why it is none that can be read. Throws RefusalError when X does not answer. */
  async post(id: string, signal: AbortSignal): Promise<XPost | string> {
    if (!this.#hasToken) throw notNow("Posts on X cannot be checked here.", otherActsSeconds, "no bearer token");
    const answer = await this.#endpoint.get(`/2/tweets/${id}?${fields}`, signal).catch((error) => {
      if (!(error instanceof EndpointSilentError)) throw error;
      throw notNow("X could not be reached; try again later.", 30, error.message);
    });
    const { status } = answer;
    if (status === 429) throw notNow("X is busy; try again later.", 60);
    // X answers 400 for an id that no post can have.
    if (status === 404 || status === 400) return noSuchPost;
    if (status !== 200 || !isAnswer(answer.body)) {
      throw notNow("X did not answer; try again later.", 30, `status ${status}`);
    }
    return readPost(answer.body, id);
  }

  stop(): Promise<void> {
    return this.#endpoint.stop();
  }
}

export interface XPost {
  readonly id: string;
  /** This and what follows is `caseless`. */
  readonly text: string;
  readonly createdAt: Date;
  readonly likes: number;
  /** Without # and @. */
  readonly hashtags: readonly string[];
  readonly mentions: readonly string[];
  /** Where its links lead; in the text X shortens each to one of its own. */
  readonly links: readonly string[];
  /** The post repeats another author's. */
  readonly isRepost: boolean;
  readonly author: {
    readonly id: string;
    readonly username: string;
    readonly createdAt: Date;
    readonly followers: number;
  };
}

const fields = new URLSearchParams({
  "tweet.fields": "author_id,created_at,public_metrics,entities,note_tweet,referenced_tweets",
  expansions: "author_id",
  "user.fields": "created_at,public_metrics,username,protected",
});

/** So many callers it takes to ask for all claims of a creator's agents. */
const callersAtLeast = 6;
const tooManyOfCaller = (most: number) =>
  `No more than ${most} ${most === 1 ? "reward" : "rewards"} of this agent's creator a minute may be asked for by one buyer.`;
const tooManyClaims = "Too many rewards of this agent's creator are asked for at the moment.";

export const noSuchPost = "There is no such public post.";

/** X answers 200 also for what it will not show; then there is `errors` and no `data`. With neither it is no answer of X's. */
function isAnswer(body: unknown): body is XAnswer {
  const { data, errors } = (body ?? {}) as { data?: { text?: unknown } | null; errors?: unknown };
  return data ? typeof data.text === "string" : Array.isArray(errors);
}

function readPost(answer: XAnswer, id: string): XPost | string {
  const post = answer.data;
  const author = answer.includes?.users?.find((user) => user.id === post?.author_id);
  if (!post || post.id !== id) return noSuchPost;
  if (!author || author.protected) return "The post's author is not public.";
  const { text, entities } = post.note_tweet ?? post;
  return {
    id,
    text: caseless(unescaped(text)),
    createdAt: new Date(post.created_at),
    likes: post.public_metrics?.like_count ?? 0,
    hashtags: (entities?.hashtags ?? []).map(({ tag }) => caseless(tag)),
    mentions: (entities?.mentions ?? []).map(({ username }) => caseless(username)),
    links: (entities?.urls ?? []).flatMap(({ expanded_url: url }) => (url ? caseless(url) : [])),
    isRepost: (post.referenced_tweets ?? []).some(({ type }) => type === "retweeted"),
    author: {
      id: author.id,
      username: author.username,
      createdAt: new Date(author.created_at),
      followers: author.public_metrics?.followers_count ?? 0,
    },
  };
}

/** As texts are compared: in lower case, with letters and their marks as one character where there is one. */
export const caseless = (text: string): string => text.normalize("NFC").toLowerCase();

/** X escapes the text of a post for HTML, which its documentation does not say. */
function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

interface XAnswer {
  readonly data?: XText & {
    readonly id: string;
    readonly author_id: string;
    readonly created_at: string;
    readonly public_metrics?: { readonly like_count?: number };
    /** The whole of a post of more than 280 characters. */
    readonly note_tweet?: XText;
    readonly referenced_tweets?: ReadonlyArray<{ readonly type: string }>;
  };
  readonly includes?: {
    readonly users?: ReadonlyArray<{
      readonly id: string;
      readonly username: string;
      readonly created_at: string;
      readonly protected?: boolean;
      readonly public_metrics?: { readonly followers_count?: number };
    }>;
  };
}

interface XText {
  readonly text: string;
  readonly entities?: {
    readonly hashtags?: ReadonlyArray<{ readonly tag: string }>;
    readonly mentions?: ReadonlyArray<{ readonly username: string }>;
    readonly urls?: ReadonlyArray<{ readonly expanded_url?: string }>;
  };
}
