import { z } from "zod";
import type { Answers, Shapes } from "../../shared/endpoint.ts";
import { openApiDocument, type ServiceDescription } from "../../shared/openapi.ts";
import { type Access, type Endpoint, isOpen, type Tag } from "./endpoint.ts";
import { meanings, refusals } from "./refusals.ts";

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
        name: publicUrl.startsWith("https:") ? "__Secure-marketplace.session_token" : "marketplace.session_token",
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
export function usualAnswers({ access, body, query, pathParameters }: Endpoint): Answers {
  const isSignedIn = access === "session" || access === "account" || access === "operator";
  return {
    ...(body || query || pathParameters ? refusals(400) : {}),
    // What comes with two Host headers is refused wherever it goes.
    ...(access === "unlimited" ? refusals(400) : refusals(429)),
    ...(isOpen(access) ? {} : refusals(503)),
    // Who is no operator is told that there is nothing, signed in or not.
    ...(isOpen(access) ? {} : refusals(access === "operator" ? 404 : 401)),
    ...(isSignedIn ? refusals(403) : {}),
    ...(body ? refusals(408, 413, 429, 503) : {}),
    ...refusals(500),
  };
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
