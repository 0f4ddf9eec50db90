import type { ErrorRequestHandler } from "express";
import { z } from "zod";
import { createApp, type Listening, listen } from "../../shared/http.ts";
import { jsonBody } from "../../shared/request-body.ts";

/**
 * A server that speaks the part of X's API v2 that reads a post with its author, over posts that it is given. Every
 * answer says so: `x-stand-in: true`. No post in it was ever on X. Binds 127.0.0.1; any free port by default.
 */
export async function startMockX(options: { port?: number; token?: string } = {}): Promise<MockX> {
  const posts = new Map<string, StoredPost>();
  const faults: XFault[] = [];
  let requests = 0;
  const add = (given: z.input<typeof storedPost>) => {
    const post = storedPost.parse(given);
    posts.set(post.id, post);
    return post;
  };
  const app = createApp({ trustProxy: false });
  app.use((_request, response, next) => {
    response.setHeader("x-stand-in", "true");
    next();
  });

  app.get("/2/tweets/:id", (request, response) => {
    requests += 1;
    const fault = faults.shift();
    if (fault?.hangUp) return void request.socket.destroy();
    if (fault?.html) return void response.type("html").send("<h1>Just a moment</h1>");
    if (fault?.status === 429) response.setHeader("x-rate-limit-reset", String(Math.ceil(Date.now() / 1_000) + 60));
    if (fault?.status) return void response.status(fault.status).json(problem(fault.status, "Told to fail"));
    const { token } = options;
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      return void response.status(401).json(problem(401, "Unauthorized"));
    }
    const { id } = request.params;
    if (!/^\d{1,19}$/.test(id)) return void response.status(400).json(problem(400, "Invalid Request"));
    const post = posts.get(id);
    response.json(post ? answer(post, String(request.query.expansions ?? "")) : { errors: [notFound(id)] });
  });

  app.post(
    "/admin/posts",
    jsonBody({ bytesMax: 100_000 }),
    (request, response) => void response.json(add(request.body)),
  );
  app.use((_request, response) => void response.status(404).json(problem(404, "Not Found")));
  const onError: ErrorRequestHandler = (thrown, _request, response, _next) =>
    void response.status(400).json(problem(400, (thrown as Error).message));
  app.use(onError);

  const listening = await listen(app, { host: "127.0.0.1", port: options.port ?? 0 });
  return { ...listening, add, injectFault: (fault) => void faults.push(fault), requests: () => requests };
}

export interface MockX extends Listening {
  /** Puts a post where the API finds it; what is not said is made up. */
  add(post: z.input<typeof storedPost>): StoredPost;
  /** Makes the next request fail so. */
  injectFault(fault: XFault): void;
  requests(): number;
}

interface XFault {
  readonly status?: number;
  readonly hangUp?: boolean;
  /** A 200 of something between that is not X. */
  readonly html?: boolean;
}

const storedPost = z.strictObject({
  id: z.string().regex(/^\d{1,19}$/),
  text: z.string().max(25_000),
  created_at: z.iso.datetime().default(() => new Date(Date.now() - 3_600_000).toISOString()),
  likes: z.int().min(0).default(10),
  repost: z.boolean().default(false),
  author: z
    .strictObject({
      id: z
        .string()
        .regex(/^\d{1,19}$/)
        .default("2244994945"),
      username: z
        .string()
        .regex(/^\w{1,15}$/)
        .default("example"),
      created_at: z.iso.datetime().default("2013-12-14T04:35:55.000Z"),
      followers: z.int().min(0).default(1_000),
      protected: z.boolean().default(false),
    })
    .prefault({}),
});

type StoredPost = z.infer<typeof storedPost>;

const shortLength = 280;

/** The answer in X's form, with entities and with long posts cut. */
function answer({ id, text, created_at, likes, repost, author }: StoredPost, expansions: string): object {
  const isLong = text.length > shortLength;
  const body = (whole: string) => ({ text: escaped(shortened(whole)), entities: entitiesIn(whole) });
  const data = {
    id,
    author_id: author.id,
    created_at,
    edit_history_tweet_ids: [id],
    public_metrics: {
      retweet_count: 0,
      reply_count: 0,
      like_count: likes,
      quote_count: 0,
      impression_count: likes * 10,
    },
    ...body(isLong ? `${text.slice(0, shortLength - 1)}…` : text),
    ...(isLong ? { note_tweet: body(text) } : {}),
    ...(repost ? { referenced_tweets: [{ type: "retweeted", id: "1" }] } : {}),
  };
  if (!expansions.split(",").includes("author_id")) return { data };
  const { followers, ...user } = author;
  const counts = { followers_count: followers, following_count: 1, tweet_count: 1, listed_count: 0 };
  return { data, includes: { users: [{ ...user, name: author.username, public_metrics: counts }] } };
}

/** Every link as one of X's own. */
const shortened = (text: string) => text.replaceAll(link, "https://t.co/AbCdEf0123");
const link = /https?:\/\/[^\s]+/g;

/** As X escapes it: for HTML. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function entitiesIn(text: string): object {
  const found = (pattern: RegExp) => Array.from(text.matchAll(pattern), (match) => ({ match, start: match.index }));
  return {
    hashtags: found(/#([\p{L}\p{M}\p{N}_]+)/gu).map(({ match, start }) => ({
      start,
      end: start + match[0].length,
      tag: match[1],
    })),
    mentions: found(/@(\w{1,15})/g).map(({ match, start }) => ({
      start,
      end: start + match[0].length,
      username: match[1],
      id: "1",
    })),
    urls: found(link).map(({ match, start }) => ({
      start,
      end: start + match[0].length,
      url: shortened(match[0]),
      expanded_url: match[0],
      display_url: match[0].replace(/^https?:\/\//, ""),
    })),
  };
}

function problem(status: number, title: string): object {
  return { title, detail: title, type: "about:blank", status };
}

function notFound(id: string): object {
  return {
    value: id,
    detail: `Could not find tweet with id: [${id}].`,
    title: "Not Found Error",
    resource_type: "tweet",
    parameter: "id",
    resource_id: id,
    type: "https://api.twitter.com/2/problems/resource-not-found",
  };
}
