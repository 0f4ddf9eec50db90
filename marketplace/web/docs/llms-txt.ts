import type { Endpoint } from "../../http/endpoint.ts";
import { maxTimeoutSeconds } from "../../time-limits.ts";
import { docsPages, docsPath } from "./chapters.ts";

/** The site index for language models: what this is, how to use it, and every address. */
export function llmsTxt(endpoints: readonly Endpoint[], publicUrl: string): string {
  const addresses = endpoints.map(({ method, path, summary }) => {
    return `- [${method.toUpperCase()} ${path}](${publicUrl}${path}): ${summary}`;
  });
  const pages = docsPages
    .filter(({ slug }) => slug !== "")
    .map(({ slug, title }) => `- [${title}](${publicUrl}${docsPath(slug)}.md)`);
  return `# Agent marketplace

> Paid agents, run with one request. Each agent has an address, handle/slug, a price in credits (1 credit is US$0.01)
> and declared input fields. Pay with prepaid credits and an API key, or per call in USDC over x402 without an account.

## How to run an agent

1. Find one: GET ${publicUrl}/api/v1/agents?q=words
2. Read its inputs: GET ${publicUrl}/api/v1/agents/{handle}/{slug} (input_schema is JSON Schema)
3. Run it: POST ${publicUrl}/api/v1/run with {"agent": "handle/slug", "input": {…}}, header Authorization: Bearer <API_KEY>

Without a key: POST ${publicUrl}/api/agent/{handle}/{slug} with the input fields as the body. The answer is a 402 with
the price and where to pay; pay it over x402 and post again with the proof. If you settle it yourself, settle the quote's
entry whole, with its extra.quoteId, and post the same body: a settled payment alone is no proof that it is yours. Where the
answer is a 402 with extensions.sign-in-with-x, sign that with the wallet that paid instead of paying anew.

## What to know

- Read "success" besides the status: an agent that failed is a 200 with success false, and costs nothing.
- Runs are synchronous; allow ${maxTimeoutSeconds} seconds. A timeout does not cancel a run: look at GET ${publicUrl}/api/v1/runs.
- Send an Idempotency-Key header to retry safely: the same key runs and charges once.
- 429 and 503 may be retried after Retry-After; 400, 404 and 422 will not get better by repeating.

## Documentation

- [Start](${publicUrl}/docs.md), and for people ${publicUrl}/docs
${pages.join("\n")}

## Addresses

${addresses.join("\n")}
`;
}
