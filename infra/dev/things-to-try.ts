import type { StackFile } from "./stack-file.ts";

/** Pages to open and commands to copy, each working as it stands. */
export function thingsToTry({ marketplace, facilitator, hedera, demo }: StackFile): string {
  const [agent] = demo.agents;
  const input = { text: "The marketplace runs agents. Buyers pay per call. Creators are paid at once." };
  return [
    "Open the website, and run an agent on its page: a demo wallet with test money pays, on either chain:",
    `  ${marketplace}/`,
    `  ${marketplace}/${agent}`,
    "",
    "Run an agent with an API key, and see what is left:",
    `  ${curl("POST", `${marketplace}/api/v1/run`, { agent, input }, demo.apiKey)}`,
    `  ${curl("GET", `${marketplace}/api/v1/balance`, undefined, demo.apiKey)}`,
    "The same with the client that buyers install (client/README.md):",
    `  AGENT_MARKETPLACE_URL=${marketplace} AGENT_MARKETPLACE_KEY=${demo.apiKey} npx agent-marketplace run ${agent} text='${input.text}'`,
    "",
    "Ask what one call costs without an account (402 and a quote; no charge):",
    `  ${curl("POST", `${marketplace}/api/agent/${agent}`, input)}`,
    "",
    "Look around:",
    `  ${curl("GET", `${marketplace}/api/v1/agents`, undefined, demo.apiKey)}`,
    `  ${curl("GET", `${facilitator}/supported`)}`,
    `  ${curl("GET", `${hedera.mirror}/api/v1/accounts/${demo.buyer.hedera.accountId}/tokens`)}`,
    "",
    "Sign in, open an account, publish (ada@example.com is the seeded creator):",
    `  ${marketplace}/sign-in`,
    "",
    "Run an agent by key, then pay for a call on each chain and watch the balances move:",
    "  npm run demo",
  ].join("\n");
}

function curl(method: "GET" | "POST", url: string, body?: object, apiKey?: string): string {
  const key = apiKey === undefined ? "" : ` -H 'Authorization: Bearer ${apiKey}'`;
  const data = body === undefined ? "" : ` -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  return `curl -s${method === "GET" ? "" : ` -X ${method}`} '${url}'${key}${data}`;
}
