/** Where the local stack's own agents find what they call: made-up rates, and an MCP server. */
export interface DemoTargets {
  readonly demoService: string;
  readonly demoTools: string;
}

/** The agents of the local stack's creator, by slug. */
export function demoAgents({ demoService, demoTools }: DemoTargets): Readonly<Record<string, object>> {
  return {
    ...textAgents,
    "exchange-rate": {
      name: "Exchange rate",
      description: "Looks up the rate between two currencies (made up, on this local stack).",
      category: "finance",
      tags: ["currency"],
      connector: "http-api",
      price_credits: 1,
      fields: [
        { name: "from", type: "string", required: true, pattern: "^[A-Z]{3}$", example: "USD" },
        { name: "to", type: "string", required: true, pattern: "^[A-Z]{3}$", example: "EUR" },
      ],
      accepts_extra_instructions: false,
      settings: { url: `${demoService}/demo/rate?from={{from}}&to={{to}}` },
    },
    "word-count": {
      name: "Word count",
      description: "Counts the words and characters of a text (by an MCP tool of this local stack).",
      category: "writing",
      tags: ["words"],
      connector: "mcp-tool",
      price_credits: 1,
      fields: [
        { name: "text", label: "Text", type: "text", required: true, max_length: 8000, example: "Three small words." },
      ],
      accepts_extra_instructions: false,
      settings: { url: demoTools, tool: "count_words", arguments: { text: "{{text}}" }, format: "json" },
    },
    poster: {
      name: "Poster",
      description: "Draws a picture of what you describe.",
      category: "images",
      tags: ["poster"],
      connector: "image-generator",
      price_credits: 8,
      fields: [
        { name: "subject", label: "Subject", type: "string", required: true, max_length: 300, example: "A boat." },
      ],
      settings: { prompt: "A poster, flat colours, of: {{subject}}", size: "512x512" },
    },
    ...chainAgents,
  };
}

const networkField = {
  name: "network",
  label: "Network",
  type: "choice",
  choices: ["hedera:testnet", "eip155:84532"],
};

const chainAgents = {
  "token-check": {
    name: "Token check",
    description: "Says what the issuer of a token can do to those who hold it.",
    category: "security",
    tags: ["token"],
    connector: "token-audit",
    price_credits: 2,
    fields: [
      { ...networkField, default: "hedera:testnet" },
      { name: "token", label: "Token", type: "string", required: true, max_length: 60, example: "0.0.429274" },
    ],
    accepts_extra_instructions: false,
    settings: {},
  },
  "approval-list": {
    name: "Approval list",
    description: "Lists who may take what out of a wallet.",
    category: "security",
    tags: ["wallet", "approvals"],
    connector: "approval-check",
    price_credits: 2,
    fields: [
      { ...networkField, default: "hedera:testnet" },
      { name: "wallet", label: "Wallet", type: "string", required: true, max_length: 60, example: "0.0.1003" },
    ],
    accepts_extra_instructions: false,
    settings: {},
  },
};

const story =
  "Buyers run agents with an API key, from an MCP client, or with no account at all, and pay for each call. Creators set the price. " +
  "What a wallet pays goes straight to the creator's own, and a run that fails costs nothing.";
const letter =
  "Please send the offer to Grace Hopper (grace@example.com, +1 555 0100), with a copy to Alan at alan@example.com.";

const textAgents = {
  summarizer: {
    name: "Summarizer",
    description: "Shortens a text to what matters, in the tone you choose.",
    category: "writing",
    tags: ["summary", "tone"],
    connector: "llm",
    price_credits: 5,
    fields: [
      { name: "text", label: "Text", type: "text", required: true, max_length: 8000, example: story },
      { name: "tone", label: "Tone", type: "choice", choices: ["neutral", "friendly", "formal"], default: "neutral" },
    ],
    settings: {
      system: "You summarise texts in a {{tone}} tone, in at most three sentences.",
      prompt: "Summarise this:\n\n{{text}}",
    },
  },
  "contact-finder": {
    name: "Contact finder",
    description: "Finds the names, e-mail addresses and telephone numbers in a text, as JSON.",
    category: "data",
    tags: ["contacts", "json"],
    connector: "llm",
    price_credits: 5,
    fields: [{ name: "text", label: "Text", type: "text", required: true, max_length: 8000, example: letter }],
    settings: {
      system: "Answer with one JSON object: {contacts: [{name, email, phone}]}.",
      prompt: "List the contacts in this text as JSON:\n\n{{text}}",
      format: "json",
    },
  },
  greeter: {
    name: "Greeter",
    description: "Greets you by name. Free, to try things out.",
    connector: "llm",
    price_credits: 0,
    fields: [{ name: "name", label: "Your name", type: "string", required: true, max_length: 60, example: "Grace" }],
    settings: { prompt: "Greet {{name}} in one warm sentence." },
  },
};
