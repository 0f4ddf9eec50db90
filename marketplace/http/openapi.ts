import { z } from "zod";
import type { Answers, Shapes } from "../../shared/endpoint.ts";
import { ApiError } from "../../shared/errors.ts";
import { openApiDocument, type ServiceDescription } from "../../shared/openapi.ts";
import { readQuery } from "../query.ts";
import { operatorCallsPerMinute, sessionCallsPerMinute, usualCallsPerMinute } from "./calls-per-minute.ts";
import type { Access, Endpoint, Tag } from "./endpoint.ts";
import { meanings, refusals } from "./refusals.ts";
import { sessionCookieAt } from "./session-cookie.ts";

/** The OpenAPI 3.1 document of the service at `publicUrl`. */
export function marketplaceDocument(endpoints: readonly Endpoint[], publicUrl: string): object {
  return openApiDocument<Access, Tag>(endpoints, {
    title: "Agent marketplace",
    version: "1.1",
    description:
      "Run paid agents: with prepaid credits and an API key, or paid per call over x402. Fields may be added to any " +
      "answer at any time; ignore those you do not know. Error texts are no contract: branch on the status and " +
      "`success`.",
    guidance:
      `${publicUrl}/llms.txt says all that a program needs, ${publicUrl}/api/x402/catalog lists without a key what is paid ` +
      "per call. POST to such an address without a payment answers 402 with the price and where to pay; the same again with " +
      "the signed payment in PAYMENT-SIGNATURE answers the result.",
    contact: { name: "The service's documentation", url: `${publicUrl}/docs` },
    documentation: { description: "Guides, and a page for each operation.", url: `${publicUrl}/docs` },
    serverUrl: publicUrl,
    tags,
    securitySchemes: {
      session: {
        type: "apiKey",
        in: "cookie",
        name: sessionCookieAt(publicUrl),
        description: "As signing in sets it. Requests from pages of another origin are refused.",
      },
      apiKey: { type: "http", scheme: "bearer", description: "amk_…, from the account's settings." },
    },
    security,
    meanings,
    usualAnswers,
    usualHeaders,
  });
}

const tags: Readonly<Record<Tag, string>> = {
  Agents: "What can be run: each agent's inputs, price and addresses.",
  Runs: "Run an agent and pay with credits; look at earlier runs.",
  Credits: "What the account has, buying more, and every movement of it.",
  "Pay per call": "Run an agent without an account: each call is paid with a stablecoin over x402.",
  "Vector graphics": "A prompt or an image as SVG.",
  "Tool server": "The agents as tools, over MCP.",
  Files: "What runs made.",
  Rewards: "What agents have paid for posts on X.",
  "Sign-in": "Ways to a session: a link by e-mail, single sign-on, a wallet.",
  Account: "The account of the person who is signed in.",
  "API keys": "Keys for programs that spend the account's credits.",
  "Payout wallets": "Where a creator is paid per call.",
  Publishing: "A creator's own agents: definition, test run, publication, model costs, debts.",
  Operators: "For accounts that the operator named: find what happened, act on it, and a log of every act.",
  Service: "Whether the service works, and what describes it.",
};

const security: ServiceDescription<Access, Tag>["security"] = {
  public: [],
  unlimited: [],
  apiKey: [{ apiKey: [] }],
  session: [{ session: [] }],
  account: [{ session: [] }],
  operator: [{ session: [] }],
};

/** What an endpoint may answer because of how it lets callers in and what it reads. */
export function usualAnswers(endpoint: Endpoint): Answers {
  return {
    ...(endpoint.body ? refusals(408, 413, 429, 503) : {}),
    ...notLetIn[endpoint.access],
    ...malformed(endpoint),
    ...refusals(500),
  };
}

const sessionsAway = { 503: "Sessions cannot be looked up right now; try again shortly." };
const noSession = refusals(403, sessionsAway, {
  401: "Sign in first; GET /sign-in shows how.",
  429: `No more than ${sessionCallsPerMinute} requests a minute.`,
});

/** What callers are told who are not let in. */
const notLetIn: Readonly<Record<Access, Answers>> = {
  public: refusals(429),
  unlimited: {},
  apiKey: refusals(401, {
    429: `This key allows ${usualCallsPerMinute} requests a minute.`,
    503: "Keys cannot be checked right now; try again shortly.",
  }),
  session: noSession,
  account: noSession,
  // Who is no operator is told that there is nothing, signed in or not.
  operator: refusals(403, 404, sessionsAway, {
    429: `No more than ${operatorCallsPerMinute} requests a minute.`,
  }),
};

function malformed({ access, body, query, pathParameters }: Endpoint): Answers {
  if (body) return refusals({ 400: "Body must be JSON." });
  if (query instanceof z.ZodObject) return refusals({ 400: givenTwice(query) });
  if (pathParameters) return refusals(400);
  // What comes with two Host headers is refused wherever it goes.
  return access === "unlimited" ? refusals({ 400: "The request has more than one Host header." }) : {};
}

/** What is said where the first parameter is there twice. */
function givenTwice(query: z.ZodObject): { error: string } {
  try {
    readQuery(query, { [Object.keys(query.shape)[0] ?? ""]: ["1", "2"] });
  } catch (error) {
    if (error instanceof ApiError) return { error: error.message, ...error.body };
  }
  return { error: "The request is malformed." };
}

function usualHeaders({ access }: Endpoint, status: number): Shapes {
  const hasLimit = access === "apiKey" && (status === 200 || status === 429);
  return {
    ...(status === 401 && { "WWW-Authenticate": authenticate }),
    ...((status === 429 || status === 503) && { "Retry-After": z.string().describe("Seconds to wait.") }),
    ...(hasLimit && rateLimit),
  };
}

const authenticate = z.string().describe("`Bearer`, or `Session` where a session is required.");

const rateLimit: Shapes = {
  "X-RateLimit-Limit": z.string().describe("Requests the key may make in 60 seconds."),
  "X-RateLimit-Remaining": z.string().describe("How many of them are left."),
  "X-RateLimit-Reset": z.string().describe("Unix time at which one more is possible."),
};
