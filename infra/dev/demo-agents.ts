/** The agents of the local stack's creator, by slug. `demoService` is where the http-api agent finds its made-up rates. */
export function demoAgents(demoService: string): Readonly<Record<string, object>> {
  return {
    summarizer: {
      name: "Summarizer",
      description: "Shortens a text to what matters, in the tone you choose.",
      connector: "llm",
      price_credits: 5,
      fields: [
        { name: "text", label: "Text", type: "text", required: true, max_length: 8000, example: "A long story." },
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
      connector: "llm",
      price_credits: 5,
      fields: [{ name: "text", label: "Text", type: "text", required: true, max_length: 8000 }],
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
      fields: [{ name: "name", label: "Your name", type: "string", required: true, max_length: 60 }],
      settings: { prompt: "Greet {{name}} in one warm sentence." },
    },
    "exchange-rate": {
      name: "Exchange rate",
      description: "Looks up the rate between two currencies (made up, on this local stack).",
      connector: "http-api",
      price_credits: 1,
      fields: [
        { name: "from", type: "string", required: true, pattern: "^[A-Z]{3}$", example: "USD" },
        { name: "to", type: "string", required: true, pattern: "^[A-Z]{3}$", example: "EUR" },
      ],
      accepts_extra_instructions: false,
      settings: { url: `${demoService}/demo/rate?from={{from}}&to={{to}}` },
    },
  };
}
