// Written from the service's OpenAPI document by test/client/openapi.test.ts.

export interface paths {
    readonly "/api/v1/run": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Run one agent and pay with credits. Waits for the result; allow 180 seconds.
         * @description Holds the agent's price, runs it, and charges when it worked. Read `success` besides the status: an agent that failed is a 200 with `success` false, and costs nothing. One whose end is not known yet, since a chain or the database did not tell it, is such a 200, too: `error` says so, and getRun tells later how it ended and what it cost. A caller that gives up does not end the run; its result is then found with listRuns. What a request with an `Idempotency-Key` gave is a 410 once it is no longer kept, as getRun says.
         */
        readonly post: operations["runAgent"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The account's runs of the last 30 days, newest first.
         * @description Answers the runs that the account's keys have made and what each cost, without what they answered, which getRun has. Ask for the next page with `cursor`.
         */
        readonly get: operations["listRuns"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/runs/{run_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One of the account's runs and what it answered, for instance after a timeout.
         * @description Runs are kept for 30 days. Another account's run is a 404, like one that never was. The outputs of an account with a great many are kept for 24 hours at least: a run that succeeded and has no `output` gave one that is no longer kept.
         */
        readonly get: operations["getRun"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/agent/{handle}/{slug}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Run one agent and pay this call with a stablecoin over x402; no account, no key.
         * @description Without a payment the answer is a 402 with the quote, and no buyer is charged. Pay it and post the same body again with the payment: the agent runs and its creator is paid. A run that fails is not charged (500); a payment that was settled all the same stays good, and is posted again (503, or 422 where the input is to blame). A free agent answers at once, though not to pages of other origins.
         */
        readonly post: operations["payAgent"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/payments": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * How one payment of a call goes, by what its payer signed.
         * @description Ask again every second or so. It tells the steps and never the result, which the same payment fetches when it is posted again.
         */
        readonly get: operations["getPaymentProgress"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/credits/purchase": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Buy credits with a stablecoin over x402, for the account of the key.
         * @description Without a payment the answer is a 402 with the quote. With one the credits are the account's, once for each payment, also when the answer was lost.
         */
        readonly post: operations["purchaseCredits"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List and search live agents.
         * @description Answers live agents, newest first, or with `q` those that match best. Costs no credits. `total` counts all matches, whatever the page; where there are more than can be counted at once, `total_exact` is false. Long lists are read by `cursor`.
         */
        readonly get: operations["listAgents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agents/{handle}/{slug}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One agent's input contract, price and addresses.
         * @description Answers every input field with its type, rules and default, also as a JSON Schema. An agent that is not live is a 404, like one that never was. How the agent works is its creator's own and is not told.
         */
        readonly get: operations["getAgent"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/balance": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The account's credits.
         * @description Answers what the key's account can spend now, what is held for its running runs and what its agents have earned, together with the limits of the key that asks. Earned credits can be spent after transferCredits.
         */
        readonly get: operations["getBalance"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/svg/vectorize": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * An image as SVG, for 1 credit.
         * @description Traces a PNG, JPEG or WebP image and answers the SVG's markup, with links to it and to its PNG. Usually takes 2 to 15 seconds. What fails costs nothing.
         */
        readonly post: operations["vectorize"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/svg/generate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * A prompt as SVG, for 3 credits; in HD for 8.
         * @description Draws what the prompt says and answers the SVG's markup, with links to it and to its PNG. Usually takes 15 to 60 seconds. What fails costs nothing.
         */
        readonly post: operations["generateSvg"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/x402/svg-vectorize": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * An image as SVG for $0.01 over x402; no account, no key.
         * @description Without a payment the answer is a 402 with the quote, and no buyer is charged. With one it is the SVG. Object layers and wide HD are for API keys only; asking for them, or sending `max_credits`, is a 400 here before the payment is used.
         */
        readonly post: operations["payVectorize"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/x402/svg-generate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * A prompt as SVG for $0.03 over x402; no account, no key.
         * @description Without a payment the answer is a 402 with the quote, and no buyer is charged. With one it is the SVG. Object layers and wide HD are for API keys only; asking for them, or sending `max_credits`, is a 400 here before the payment is used.
         */
        readonly post: operations["payGenerateSvg"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/x402/svg-generate-hd": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * The same in HD for $0.08 over x402.
         * @description Without a payment the answer is a 402 with the quote, and no buyer is charged. With one it is the SVG. Object layers and wide HD are for API keys only; asking for them, or sending `max_credits`, is a 400 here before the payment is used.
         */
        readonly post: operations["payGenerateSvgHd"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/files": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What the account's agents have made, newest first.
         * @description Answers the files of the account's own agents, for every buyer, and of the drawings that the account ordered, hidden ones too, and none that were deleted.
         */
        readonly get: operations["listFiles"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/files/{name}/hide": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Take a file of the account's agents down: its address then answers 410.
         * @description The file is kept, and showFile brings it back. Hiding what is hidden changes nothing.
         */
        readonly post: operations["hideFile"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/files/{name}/show": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Show a hidden file again.
         * @description Its address answers with the file as before. Showing what is not hidden changes nothing.
         */
        readonly post: operations["showFile"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/files/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a file of the account's agents for good, and have its room back.
         * @description Its address answers 410 until the same is made again. What an agent made for a buyer is a 409 for 30 days, as long as runs are kept, and until every buyer who paid for it has fetched the result; hideFile takes it down at any time. Deleting it again changes nothing.
         */
        readonly delete: operations["deleteFile"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/account/keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The account's API keys.
         * @description Answers the keys without the keys themselves, revoked ones too, and how many an account may have.
         */
        readonly get: operations["listApiKeys"];
        readonly put?: never;
        /**
         * Make a key. The answer is the only one that ever holds it.
         * @description The service keeps a digest of the key and cannot show it again. An account may have 5 keys; one more is a 409.
         */
        readonly post: operations["createApiKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/account/keys/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Revoke a key, at once on every copy of the service.
         * @description From then on the key is a 401. There is no way back; make another key instead.
         */
        readonly delete: operations["revokeApiKey"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Change what a key is called, sees, and may spend. The key itself stays as it is.
         * @description It holds from the key's next call on. What is left out stays. A new cap counts what was spent before it.
         */
        readonly patch: operations["changeApiKey"];
        readonly trace?: never;
    };
    readonly "/api/account/keys/{id}/calls": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The calls of a key in the last 30 days, newest first: its runs, and what it was refused.
         * @description Of a revoked key too. Calls that were refused before a run began are counted by the minute, and stand here a few seconds later; the newest thousand such minutes are kept. A page may hold fewer rows than asked for, or none, and still name a `cursor`.
         */
        readonly get: operations["listApiKeyCalls"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly RunAgentRequest: {
            /** @description `handle/slug`, in any case. */
            readonly agent: string;
            /** @description Keyed by the agent's declared field names; other keys are dropped. */
            readonly input: {
                readonly [key: string]: unknown;
            };
            /** @description The run is refused with 402 when it costs more. */
            readonly max_credits?: number;
        };
        readonly RunResult: {
            /** @description True when the agent worked; read it besides the status. */
            readonly success: boolean;
            readonly run_id: string;
            readonly output?: components["schemas"]["Output"];
            /** @description 0 on failure and for free agents. */
            readonly credits_used: number;
            readonly credits_remaining: number;
            /** @description Of agents that write to a chain: identifiers of what was written. Null otherwise. */
            readonly receipt: {
                readonly [key: string]: unknown;
            } | null;
            /** @description Present when `success` is false. */
            readonly error?: string;
        };
        /** @description Branch on what is present; a creator may republish an agent with another kind of output. */
        readonly Output: {
            /** @constant */
            readonly kind: "text";
            readonly text: string;
            /**
             * @description A mock model made it, since this service has no real one.
             * @constant
             */
            readonly stand_in?: true;
        } | {
            readonly images: readonly string[];
            /**
             * @description A mock model made it, since this service has no real one.
             * @constant
             */
            readonly stand_in?: true;
        } | {
            /** @constant */
            readonly kind: "json";
            readonly data: {
                readonly [key: string]: unknown;
            };
            /**
             * @description A mock model made it, since this service has no real one.
             * @constant
             */
            readonly stand_in?: true;
        } | {
            /** @constant */
            readonly kind: "receipt";
            readonly status: string;
            readonly transactionId: string;
        };
        readonly Runs: {
            readonly runs: readonly components["schemas"]["Run"][];
            /** @description Where the next page begins; null on the last. */
            readonly cursor: string | null;
        };
        readonly Run: {
            readonly run_id: string;
            readonly agent: string;
            /**
             * @description `lost`: the service was interrupted; nothing was charged.
             * @enum {string}
             */
            readonly state: "running" | "succeeded" | "failed" | "lost";
            /** @description Null while it runs. */
            readonly success: boolean | null;
            readonly credits_used: number;
            /** @description The balance after the run; null while it runs. */
            readonly credits_remaining: number | null;
            readonly error?: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, with milliseconds.
             */
            readonly created_at: string;
            readonly finished_at: string | null;
        };
        readonly RunDetail: {
            readonly run_id: string;
            readonly agent: string;
            /**
             * @description `lost`: the service was interrupted; nothing was charged.
             * @enum {string}
             */
            readonly state: "running" | "succeeded" | "failed" | "lost";
            /** @description Null while it runs. */
            readonly success: boolean | null;
            readonly credits_used: number;
            /** @description The balance after the run; null while it runs. */
            readonly credits_remaining: number | null;
            readonly error?: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, with milliseconds.
             */
            readonly created_at: string;
            readonly finished_at: string | null;
            readonly output?: {
                readonly [key: string]: unknown;
            };
            /** @description Of agents that write to a chain: identifiers of what was written. Null otherwise. */
            readonly receipt: {
                readonly [key: string]: unknown;
            } | null;
        };
        /** @description The agent's input fields, not wrapped. */
        readonly PayAgentRequest: {
            readonly [key: string]: unknown;
        };
        readonly PaidResult: {
            /** @constant */
            readonly success: true;
            readonly run_id: string;
            readonly output: components["schemas"]["Output"];
            /** @description Of agents that write to a chain: identifiers of what was written. Null otherwise. */
            readonly receipt: {
                readonly [key: string]: unknown;
            } | null;
        };
        readonly PaymentProgress: {
            readonly network: string;
            /**
             * @description `unseen`: no call was begun with it here. `verified`: nothing is done about it now; post the same payment to go on. `running`: a post of it is at work. `settling`: its money is on its way. `unknown`: its end was not seen; do not pay again. `settled` and `failed` are ends.
             * @enum {string}
             */
            readonly state: "unseen" | "verified" | "running" | "settling" | "unknown" | "settled" | "failed";
            /** @description The agent has given a result; the same payment fetches it once it is settled and until it was delivered. */
            readonly ran: boolean;
            /** @description The result was handed out: the same payment fetches it no more, and is not to be paid anew. If it did not arrive, the wallet that paid has it once more: the answer to the same payment says what it signs. */
            readonly delivered: boolean;
            readonly delivered_at: string | null;
            readonly transaction: string | null;
            /** @description Where people look the transaction up. */
            readonly explorer: string | null;
            readonly verified_at: string | null;
            /** @description When the facilitator began to settle it. */
            readonly claimed_at: string | null;
            /** @description As the facilitator tells it; null where it does not answer, too. */
            readonly settled_at: string | null;
            /** @description Until then a payment that is not settled can still be. */
            readonly can_land_until: string | null;
        };
        readonly PurchaseCreditsRequest: {
            readonly credits: number;
        };
        readonly Agents: {
            readonly agents: readonly components["schemas"]["Agent"][];
            /** @description All matches, whatever the page. */
            readonly total: number;
            /** @description False when there are more matches than `total`. */
            readonly total_exact: boolean;
            readonly limit: number;
            readonly offset: number;
            /** @description Where the next page begins; null on the last. */
            readonly cursor: string | null;
            /** @description How the words of `q` were taken; null without any. */
            readonly search: components["schemas"]["UnderstoodSearch"] | null;
        };
        readonly Agent: {
            /** @description `handle/slug`; the id passed to run. */
            readonly agent: string;
            readonly name: string;
            readonly description: string;
            /** @enum {string} */
            readonly connector: "llm" | "image-generator" | "http-api" | "mcp-tool" | "token-audit" | "approval-check" | "hedera-mint" | "hedera-transfer" | "hcs-write" | "x-reward" | "x-reward-credits";
            readonly connector_name: string;
            /** @enum {string} */
            readonly category: "writing" | "translation" | "research" | "data" | "code" | "images" | "security" | "finance" | "on-chain" | "social" | "other";
            readonly tags: readonly string[];
            /** @description Cost of one run; 0 means free. */
            readonly price_credits: number;
            /** @description Where the agent can be called without an account; null when it cannot be paid so, or needs an account. */
            readonly per_call: components["schemas"]["PerCall"] | null;
            readonly figures: components["schemas"]["AgentFigures"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, with milliseconds.
             */
            readonly created_at: string;
        };
        readonly PerCall: {
            readonly url: string;
            readonly price_usd: number;
            readonly networks: readonly string[];
        };
        readonly AgentFigures: {
            /** @description Runs of the last 30 days, on all payment methods, except for the creator's own. */
            readonly runs_30d: number;
            /** @description Of those runs; null without any. */
            readonly success_rate: number | null;
            /** @description Time of a run that succeeded, within 5 %. */
            readonly median_ms: number | null;
            /** @description Nineteen of twenty runs that succeeded took no longer, within 5 %. */
            readonly p95_ms: number | null;
            readonly last_success_at: string | null;
        };
        readonly UnderstoodSearch: {
            /** @description Whether the agents found have every word of `q`. */
            readonly all_words: boolean;
            /** @description Words that no agent has, and the nearest ones that were searched for instead. */
            readonly read_as: readonly {
                readonly word: string;
                readonly as: readonly string[];
            }[];
            /** @description Words that nothing is near to; they were left out. */
            readonly unknown: readonly string[];
        };
        readonly AgentDetail: {
            /** @description `handle/slug`; the id passed to run. */
            readonly agent: string;
            readonly name: string;
            readonly description: string;
            /** @enum {string} */
            readonly connector: "llm" | "image-generator" | "http-api" | "mcp-tool" | "token-audit" | "approval-check" | "hedera-mint" | "hedera-transfer" | "hcs-write" | "x-reward" | "x-reward-credits";
            readonly connector_name: string;
            /** @enum {string} */
            readonly category: "writing" | "translation" | "research" | "data" | "code" | "images" | "security" | "finance" | "on-chain" | "social" | "other";
            readonly tags: readonly string[];
            /** @description Cost of one run; 0 means free. */
            readonly price_credits: number;
            /** @description Where the agent can be called without an account; null when it cannot be paid so, or needs an account. */
            readonly per_call: components["schemas"]["PerCall"] | null;
            readonly figures: components["schemas"]["AgentFigures"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC, with milliseconds.
             */
            readonly created_at: string;
            readonly inputs: readonly components["schemas"]["InputField"][];
            /** @description The same as JSON Schema 2020-12. */
            readonly input_schema: {
                readonly [key: string]: unknown;
            };
            readonly accepts_extra_instructions: boolean;
            /** @enum {string} */
            readonly output_kind: "text" | "image" | "json" | "receipt";
            readonly mcp_tool: string;
            readonly page_url: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, with milliseconds.
             */
            readonly updated_at: string;
        };
        readonly InputField: {
            /** @description The key in `input`. */
            readonly name: string;
            /** @description What people see. */
            readonly label: string;
            /** @enum {string} */
            readonly type: "string" | "text" | "number" | "integer" | "boolean" | "choice" | "url" | "image";
            /** @description Without a default it must be given, and a text must not be empty. */
            readonly required: boolean;
            /** @description What it is when it is not given; null for none. */
            readonly default: string | number | boolean | null;
            readonly description: string | null;
            /** @description Characters of a string or text. */
            readonly max_length: number | null;
            /** @description The least a number or integer may be. */
            readonly min: number | null;
            /** @description The most a number or integer may be. */
            readonly max: number | null;
            /** @description What a choice may be. */
            readonly choices: readonly string[] | null;
            /** @description A regular expression that must match somewhere in a string or text; ^ and $ ask for the whole of it. */
            readonly pattern: string | null;
            readonly example: string | number | boolean | null;
        };
        readonly Balance: {
            /** @description What can be spent now. */
            readonly credits: number;
            /** @description Set aside for runs that are running. */
            readonly held_credits: number;
            readonly earned_credits: number;
            readonly account: {
                readonly handle: string;
            };
            readonly key: {
                readonly name: string;
                readonly start: string;
                /** @enum {string} */
                readonly scope: "own_agents" | "chosen_agents" | "rest_only";
                readonly rate_limit_per_minute: number;
                readonly max_credits_per_day: number | null;
            };
        };
        readonly VectorizeRequest: {
            /** @description PNG, JPEG or WebP: an https URL, a data: URI or base64. At most 10 MB and 16 megapixels. */
            readonly image: string;
            /**
             * @description cutout: no two shapes overlap, except for a hair along shared edges.
             * @default stacked
             * @enum {string}
             */
            readonly mode?: "stacked" | "cutout";
            /**
             * @description What kind of picture it is; auto looks for itself. photo: a small poster; lineart: ink on white paper, shadows gone.
             * @default auto
             * @enum {string}
             */
            readonly style?: "auto" | "logo" | "icon" | "lineart" | "photo" | "pixel";
            /** @description At most so many colours, 2 to 256; as many as the image needs when left out. What is see-through stays so. */
            readonly colors?: number;
            /**
             * @description From 0, which keeps all detail, to 1, which keeps the least.
             * @default 0
             */
            readonly simplify?: number;
            /**
             * @description Leaves out what touches the image's edges in one colour, and the counters of letters on it.
             * @default false
             */
            readonly remove_background?: boolean;
            /**
             * @description One group per object, as a person would name them. With an API key only.
             * @default false
             */
            readonly layers?: boolean;
            /**
             * @description Files made beside the SVG; the PNG always is.
             * @default [
             *       "png"
             *     ]
             */
            readonly files?: readonly ("png" | "pdf")[];
            /** @description Refused with 402 when it costs more. */
            readonly max_credits?: number;
        };
        readonly VectorGraphics: {
            /** @description The markup. */
            readonly svg: string;
            /** @description The same, stored. */
            readonly url: string;
            /** @description By kind; `png` is always there. */
            readonly files: {
                readonly [key: string]: string;
            };
            readonly width: number;
            readonly height: number;
            readonly paths: number;
            readonly colors: number;
            readonly bytes: number;
            /** @description The SVG's groups, from the one drawn first. */
            readonly layers: readonly {
                readonly id: string;
                /** @description What it is, as far as that is known: `background`, `text` (a line of what looks like letters, as outlines), `circle`, `ellipse`, `rectangle`, `triangle`, `line`, `lines`, `object`, `details`, `shadow`, `glow` (what fades away on all sides), `field` (a gradient that bends); `layer` where groups go by depth. */
                readonly name?: string;
                readonly fill: readonly string[];
            }[];
            /** @description Likeness of the drawing, rendered, to its source: the image, the picture traced, or what a chat model wrote. How well it answers a prompt is not measured. */
            readonly score: number;
            readonly metrics: {
                readonly ssim: number;
                readonly psnr: number;
            };
            /** @description With `remove_background`: the colour that was removed, such as #fff, or `none found`. */
            readonly background?: string;
            /**
             * @description The style asked for gives the same drawing as this one.
             * @constant
             */
            readonly same_as?: "auto";
            /** @description What to do instead, where the picture has more than vector shapes can hold, as photographs have, or is blurred. */
            readonly advice?: string;
            readonly cost_usd: number;
            readonly ms: number;
            /**
             * @description A mock model drew it, since this service has no real one; it costs nothing.
             * @constant
             */
            readonly stand_in?: true;
        };
        readonly GenerateSvgRequest: {
            /** @description What is to be drawn, in words; 1 to 2,000 characters. */
            readonly prompt: string;
            /**
             * @description What kind of drawing it is.
             * @default illustration
             * @enum {string}
             */
            readonly style?: "illustration" | "icon" | "logo" | "pattern" | "pixel";
            /**
             * @description Width to height.
             * @default square
             * @enum {string}
             */
            readonly aspect?: "square" | "landscape" | "portrait" | "wide";
            /**
             * @description More detail, at the HD price.
             * @default false
             */
            readonly hd?: boolean;
            /**
             * @description One group per object, as a person would name them. With an API key only.
             * @default false
             */
            readonly layers?: boolean;
            /** @description At most so many colours, 2 to 64. */
            readonly colors?: number;
            /** @description Only these colours are used: 1 to 16 such as #1a2b3c. */
            readonly palette?: readonly string[];
            /** @description `transparent`, or a colour such as #1a2b3c; white when left out. */
            readonly background?: "transparent" | string;
            /**
             * @description Files made beside the SVG; the PNG always is.
             * @default [
             *       "png"
             *     ]
             */
            readonly files?: readonly ("png" | "pdf")[];
            /** @description Another number, another drawing. */
            readonly seed?: number;
            /** @description Refused with 402 when it costs more. */
            readonly max_credits?: number;
        };
        readonly PayVectorizeRequest: {
            /** @description PNG, JPEG or WebP: an https URL, a data: URI or base64. At most 10 MB and 16 megapixels. */
            readonly image: string;
            /**
             * @description cutout: no two shapes overlap, except for a hair along shared edges.
             * @default stacked
             * @enum {string}
             */
            readonly mode?: "stacked" | "cutout";
            /**
             * @description What kind of picture it is; auto looks for itself. photo: a small poster; lineart: ink on white paper, shadows gone.
             * @default auto
             * @enum {string}
             */
            readonly style?: "auto" | "logo" | "icon" | "lineart" | "photo" | "pixel";
            /** @description At most so many colours, 2 to 256; as many as the image needs when left out. What is see-through stays so. */
            readonly colors?: number;
            /**
             * @description From 0, which keeps all detail, to 1, which keeps the least.
             * @default 0
             */
            readonly simplify?: number;
            /**
             * @description Leaves out what touches the image's edges in one colour, and the counters of letters on it.
             * @default false
             */
            readonly remove_background?: boolean;
            /**
             * @description Files made beside the SVG; the PNG always is.
             * @default [
             *       "png"
             *     ]
             */
            readonly files?: readonly ("png" | "pdf")[];
        };
        readonly PayGenerateSvgRequest: {
            /** @description What is to be drawn, in words; 1 to 2,000 characters. */
            readonly prompt: string;
            /**
             * @description What kind of drawing it is.
             * @default illustration
             * @enum {string}
             */
            readonly style?: "illustration" | "icon" | "logo" | "pattern" | "pixel";
            /**
             * @description Width to height.
             * @default square
             * @enum {string}
             */
            readonly aspect?: "square" | "landscape" | "portrait" | "wide";
            /** @description At most so many colours, 2 to 64. */
            readonly colors?: number;
            /** @description Only these colours are used: 1 to 16 such as #1a2b3c. */
            readonly palette?: readonly string[];
            /** @description `transparent`, or a colour such as #1a2b3c; white when left out. */
            readonly background?: "transparent" | string;
            /**
             * @description Files made beside the SVG; the PNG always is.
             * @default [
             *       "png"
             *     ]
             */
            readonly files?: readonly ("png" | "pdf")[];
            /** @description Another number, another drawing. */
            readonly seed?: number;
        };
        readonly PayGenerateSvgHdRequest: {
            /** @description What is to be drawn, in words; 1 to 2,000 characters. */
            readonly prompt: string;
            /**
             * @description What kind of drawing it is.
             * @default illustration
             * @enum {string}
             */
            readonly style?: "illustration" | "icon" | "logo" | "pattern" | "pixel";
            /**
             * @description Wide HD: with an API key only.
             * @default square
             * @enum {string}
             */
            readonly aspect?: "square" | "landscape" | "portrait";
            /** @description At most so many colours, 2 to 64. */
            readonly colors?: number;
            /** @description Only these colours are used: 1 to 16 such as #1a2b3c. */
            readonly palette?: readonly string[];
            /** @description `transparent`, or a colour such as #1a2b3c; white when left out. */
            readonly background?: "transparent" | string;
            /**
             * @description Files made beside the SVG; the PNG always is.
             * @default [
             *       "png"
             *     ]
             */
            readonly files?: readonly ("png" | "pdf")[];
            /** @description Another number, another drawing. */
            readonly seed?: number;
        };
        readonly Files: {
            readonly files: readonly components["schemas"]["File"][];
            readonly limit: number;
            readonly offset: number;
        };
        readonly File: {
            readonly name: string;
            readonly url: string;
            readonly agent: string | null;
            readonly run_id: string | null;
            readonly bytes: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, with milliseconds.
             */
            readonly created_at: string;
            readonly hidden_at: string | null;
        };
        readonly FileVisibility: {
            readonly name: string;
            readonly hidden: boolean;
        };
        readonly DeletedFile: {
            readonly name: string;
            /** @constant */
            readonly deleted: true;
        };
        readonly Keys: {
            readonly keys: readonly components["schemas"]["Key"][];
            readonly keys_max: number;
        };
        readonly Key: {
            readonly id: string;
            readonly name: string;
            /** @description How the key begins. */
            readonly start: string;
            readonly last4: string;
            /** @enum {string} */
            readonly scope: "own_agents" | "chosen_agents" | "rest_only";
            readonly agents: readonly string[];
            /** @enum {string} */
            readonly tools: "all" | "search";
            /** @description The client that a person allowed it, over OAuth; null of a key. */
            readonly client: string | null;
            readonly rate_limit_per_minute: number;
            readonly max_credits_per_day: number | null;
            readonly max_credits_per_month: number | null;
            /** @description The network, without the last part of the address. */
            readonly last_used_from: string | null;
            /** @description The program, as it names itself. */
            readonly last_used_by: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC, with milliseconds.
             */
            readonly created_at: string;
            /** @description About then: to the minute. */
            readonly last_used_at: string | null;
            readonly revoked_at: string | null;
            /** @description Spent today (UTC), or held for runs under way; 0 of a revoked key. */
            readonly credits_today: number;
            /** @description The same for this month; null without a cap on it. */
            readonly credits_this_month: number | null;
        };
        readonly CreateApiKeyRequest: {
            /** @description For the account's holder to read. */
            readonly name: string;
            /**
             * @description Which agents the key sees as tools; the account's own by default.
             * @enum {string}
             */
            readonly scope?: "own_agents" | "chosen_agents" | "rest_only";
            /** @description Of the scope chosen_agents: `handle/slug` of live agents. */
            readonly agents?: readonly string[];
            /**
             * @description What the tool server lists: `all`, the default, a tool for each agent in scope; `search`, few tools that find, describe and run them.
             * @enum {string}
             */
            readonly tools?: "all" | "search";
            /** @description 60 by default; at most what all keys of the account may call together, 600 by default. */
            readonly rate_limit_per_minute?: number;
            /** @description What runs by this key may cost in a day (UTC); no cap by default. */
            readonly max_credits_per_day?: number;
            /** @description The same for a calendar month (UTC). */
            readonly max_credits_per_month?: number;
        };
        readonly NewKey: {
            readonly id: string;
            readonly name: string;
            /** @enum {string} */
            readonly scope: "own_agents" | "chosen_agents" | "rest_only";
            readonly agents: readonly string[];
            /** @enum {string} */
            readonly tools: "all" | "search";
            readonly rate_limit_per_minute: number;
            readonly max_credits_per_day: number | null;
            readonly max_credits_per_month: number | null;
            /** @description The key: shown here and never again. */
            readonly token: string;
        };
        readonly ChangeApiKeyRequest: {
            /** @description For the account's holder to read. */
            readonly name?: string;
            /**
             * @description Which agents the key sees as tools; the account's own by default.
             * @enum {string}
             */
            readonly scope?: "own_agents" | "chosen_agents" | "rest_only";
            /** @description Of the scope chosen_agents: `handle/slug` of live agents. */
            readonly agents?: readonly string[];
            /**
             * @description What the tool server lists: `all`, the default, a tool for each agent in scope; `search`, few tools that find, describe and run them.
             * @enum {string}
             */
            readonly tools?: "all" | "search";
            /** @description 60 by default; at most what all keys of the account may call together, 600 by default. */
            readonly rate_limit_per_minute?: number;
            /** @description At most 1000000000; null lifts the cap. */
            readonly max_credits_per_day?: number | null;
            /** @description At most 1000000000; null lifts the cap. */
            readonly max_credits_per_month?: number | null;
        };
        readonly ChangedKey: {
            readonly id: string;
            readonly name: string;
            /** @enum {string} */
            readonly scope: "own_agents" | "chosen_agents" | "rest_only";
            readonly agents: readonly string[];
            /** @enum {string} */
            readonly tools: "all" | "search";
            readonly rate_limit_per_minute: number;
            readonly max_credits_per_day: number | null;
            readonly max_credits_per_month: number | null;
            /** @constant */
            readonly changed: true;
        };
        readonly Revoked: {
            readonly id: string;
            /** @constant */
            readonly revoked: true;
        };
        readonly KeyCalls: {
            readonly calls: readonly components["schemas"]["KeyCall"][];
            /** @description Where the next page begins; null on the last. */
            readonly cursor: string | null;
        };
        readonly KeyCall: {
            /** @description Null of what was refused. */
            readonly run_id: string | null;
            /** @description Null where calls were refused before they were read, or too many different ones. */
            readonly agent: string | null;
            /** @description Method and path of calls that were refused before they were read; else null. */
            readonly asked: string | null;
            /** @enum {string} */
            readonly state: "running" | "succeeded" | "failed" | "lost" | "refused";
            /** @description Why they were refused: past the key's calls a minute, an agent outside its scope, its cap, the call's own `max_credits`, or the account's balance. */
            readonly reason: ("rate_limit" | "scope" | "cap" | "max_credits" | "balance") | null;
            /** @description How many calls of a minute were refused so; 1 of a run. */
            readonly times: number;
            readonly credits_used: number;
            /** @description How long it took; null while it runs. */
            readonly ms: number | null;
            readonly error: string | null;
            /**
             * Format: date-time
             * @description Of what was refused, when the minute began.
             */
            readonly created_at: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly runAgent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "agent": "ada/summarizer",
                 *       "input": {
                 *         "text": "Buyers pay per call. Creators are paid at once."
                 *       },
                 *       "max_credits": 5
                 *     }
                 */
                readonly "application/json": components["schemas"]["RunAgentRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "run_id": "run_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *       "output": {
                     *         "kind": "text",
                     *         "text": "Each call pays its creator."
                     *       },
                     *       "credits_used": 5,
                     *       "credits_remaining": 935,
                     *       "receipt": null
                     *     }
                     */
                    readonly "application/json": components["schemas"]["RunResult"];
                };
            };
        };
    };
    readonly listRuns: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows a page. */
                readonly limit?: number;
                /** @description `cursor` of the page before. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runs": [
                     *         {
                     *           "run_id": "run_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *           "agent": "ada/summarizer",
                     *           "state": "succeeded",
                     *           "success": true,
                     *           "credits_used": 5,
                     *           "credits_remaining": 935,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "finished_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "cursor": null
                     *     }
                     */
                    readonly "application/json": components["schemas"]["Runs"];
                };
            };
        };
    };
    readonly getRun: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description As a run's answer names it. */
                readonly run_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "run_id": "run_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *       "agent": "ada/summarizer",
                     *       "state": "succeeded",
                     *       "success": true,
                     *       "credits_used": 5,
                     *       "credits_remaining": 935,
                     *       "created_at": "2026-03-02T09:30:00.000Z",
                     *       "finished_at": "2026-03-02T09:30:00.000Z",
                     *       "output": {
                     *         "kind": "text",
                     *         "text": "Each call pays its creator."
                     *       },
                     *       "receipt": null
                     *     }
                     */
                    readonly "application/json": components["schemas"]["RunDetail"];
                };
            };
        };
    };
    readonly payAgent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The creator's handle, in any case. */
                readonly handle: string;
                /** @description The agent's name part, in any case. */
                readonly slug: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "text": "Buyers pay per call. Creators are paid at once."
                 *     }
                 */
                readonly "application/json": components["schemas"]["PayAgentRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "run_id": "run_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *       "output": {
                     *         "kind": "text",
                     *         "text": "Each call pays its creator."
                     *       },
                     *       "receipt": null
                     *     }
                     */
                    readonly "application/json": components["schemas"]["PaidResult"];
                };
            };
        };
    };
    readonly getPaymentProgress: {
        readonly parameters: {
            readonly query?: {
                /**
                 * @description CAIP-2 id, or its version 1 name.
                 * @example eip155:8453
                 */
                readonly network?: string;
                /**
                 * @description On EVM networks, beside `nonce`: the address that signed (`authorization.from`).
                 * @example 0x1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b
                 */
                readonly payer?: string;
                /**
                 * @description On EVM networks: as it was signed (`authorization.nonce`).
                 * @example 0x2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c
                 */
                readonly nonce?: string;
                /** @description On Hedera: the transaction id that the payer gave it, with `@` and `.` or with dashes. */
                readonly transaction?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "network": "eip155:8453",
                     *       "state": "settling",
                     *       "ran": true,
                     *       "delivered": false,
                     *       "delivered_at": null,
                     *       "transaction": "0x9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c9c",
                     *       "explorer": null,
                     *       "verified_at": "2026-03-02T09:30:00.000Z",
                     *       "claimed_at": "2026-03-02T09:30:00.000Z",
                     *       "settled_at": null,
                     *       "can_land_until": "2026-03-02T09:33:00.000Z"
                     *     }
                     */
                    readonly "application/json": components["schemas"]["PaymentProgress"];
                };
            };
        };
    };
    readonly purchaseCredits: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "credits": 500
                 *     }
                 */
                readonly "application/json": components["schemas"]["PurchaseCreditsRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "run_id": "run_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *       "output": {
                     *         "kind": "json",
                     *         "data": {
                     *           "credits": 500,
                     *           "credits_remaining": 1440
                     *         }
                     *       },
                     *       "receipt": null
                     *     }
                     */
                    readonly "application/json": components["schemas"]["PaidResult"];
                };
            };
        };
    };
    readonly listAgents: {
        readonly parameters: {
            readonly query?: {
                /** @description Words to find in name, description, tags or creator: whole, begun or inflected, in either spelling of English. A word that no agent has is read as the nearest one; when no agent has them all, those with most of them are found. */
                readonly q?: string;
                /** @description Only agents of this creator's handle, in any case. */
                readonly creator?: string;
                /** @description Only agents that run on one of these connectors, separated by commas: llm, image-generator, http-api, mcp-tool, token-audit, approval-check, hedera-mint, hedera-transfer, hcs-write, x-reward, x-reward-credits. */
                readonly connector?: string;
                /** @description Only agents that their creators put into this category. */
                readonly category?: "writing" | "translation" | "research" | "data" | "code" | "images" | "security" | "finance" | "on-chain" | "social" | "other";
                /** @description Only agents that have this tag. */
                readonly tag?: string;
                /** @description Only agents that can be paid per call on one of these networks (CAIP-2), separated by commas. */
                readonly network?: string;
                /** @description Only agents of which one run costs at least so many credits. */
                readonly min_price?: number;
                /** @description Only agents of which one run costs at most so many credits. */
                readonly max_price?: number;
                /** @description `true`: only agents whose runs cost nothing. */
                readonly free?: boolean;
                /** @description `true`: only agents that can be called without an account. */
                readonly per_call?: boolean;
                /** @description `relevance` goes with `q` and is its default; otherwise the default is `newest`. */
                readonly sort?: "relevance" | "newest" | "most_run" | "cheapest";
                /** @description Agents a page. */
                readonly limit?: number;
                /** @description Agents to skip. */
                readonly offset?: number;
                /** @description `cursor` of the page before, with the other parameters unchanged. Takes the place of `offset`. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agents": [
                     *         {
                     *           "agent": "ada/summarizer",
                     *           "name": "Summarizer",
                     *           "description": "The gist of a text in one sentence.",
                     *           "connector": "llm",
                     *           "connector_name": "Language model",
                     *           "category": "writing",
                     *           "tags": [
                     *             "summary",
                     *             "meeting-notes"
                     *           ],
                     *           "price_credits": 5,
                     *           "per_call": {
                     *             "url": "https://agents.example/api/agent/ada/summarizer",
                     *             "price_usd": 0.05,
                     *             "networks": [
                     *               "eip155:8453"
                     *             ]
                     *           },
                     *           "figures": {
                     *             "runs_30d": 12416,
                     *             "success_rate": 0.9941,
                     *             "median_ms": 3100,
                     *             "p95_ms": 7400,
                     *             "last_success_at": "2026-03-02T09:30:00.000Z"
                     *           },
                     *           "created_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "total": 1,
                     *       "total_exact": true,
                     *       "limit": 20,
                     *       "offset": 0,
                     *       "cursor": null,
                     *       "search": {
                     *         "all_words": true,
                     *         "read_as": [
                     *           {
                     *             "word": "sumarise",
                     *             "as": [
                     *               "summarizer"
                     *             ]
                     *           }
                     *         ],
                     *         "unknown": []
                     *       }
                     *     }
                     */
                    readonly "application/json": components["schemas"]["Agents"];
                };
            };
        };
    };
    readonly getAgent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The creator's handle, in any case. */
                readonly handle: string;
                /** @description The agent's name part, in any case. */
                readonly slug: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent": "ada/haiku",
                     *       "name": "Haiku",
                     *       "description": "Three lines on today's weather.",
                     *       "connector": "llm",
                     *       "connector_name": "Language model",
                     *       "category": "writing",
                     *       "tags": [
                     *         "summary",
                     *         "meeting-notes"
                     *       ],
                     *       "price_credits": 5,
                     *       "per_call": {
                     *         "url": "https://agents.example/api/agent/ada/haiku",
                     *         "price_usd": 0.05,
                     *         "networks": [
                     *           "eip155:8453"
                     *         ]
                     *       },
                     *       "figures": {
                     *         "runs_30d": 12416,
                     *         "success_rate": 0.9941,
                     *         "median_ms": 3100,
                     *         "p95_ms": 7400,
                     *         "last_success_at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "created_at": "2026-03-02T09:30:00.000Z",
                     *       "inputs": [],
                     *       "input_schema": {
                     *         "type": "object",
                     *         "properties": {
                     *           "extraInstructions": {
                     *             "type": "string",
                     *             "maxLength": 2000
                     *           }
                     *         },
                     *         "required": []
                     *       },
                     *       "accepts_extra_instructions": true,
                     *       "output_kind": "text",
                     *       "mcp_tool": "ada--haiku",
                     *       "page_url": "https://agents.example/ada/haiku",
                     *       "updated_at": "2026-03-02T09:30:00.000Z"
                     *     }
                     */
                    readonly "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    readonly getBalance: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "credits": 940,
                     *       "held_credits": 5,
                     *       "earned_credits": 120,
                     *       "account": {
                     *         "handle": "ada"
                     *       },
                     *       "key": {
                     *         "name": "server",
                     *         "start": "amk_4fT9",
                     *         "scope": "own_agents",
                     *         "rate_limit_per_minute": 60,
                     *         "max_credits_per_day": null
                     *       }
                     *     }
                     */
                    readonly "application/json": components["schemas"]["Balance"];
                };
            };
        };
    };
    readonly vectorize: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "image": "https://example.com/logo.png"
                 *     }
                 */
                readonly "application/json": components["schemas"]["VectorizeRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "svg": "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 512 512\"><path id=\"fox\" fill=\"#d9642b\" d=\"M0 0h9v9z\"/></svg>",
                     *       "url": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.svg",
                     *       "files": {
                     *         "png": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.png"
                     *       },
                     *       "width": 512,
                     *       "height": 512,
                     *       "paths": 1,
                     *       "colors": 1,
                     *       "bytes": 108,
                     *       "layers": [
                     *         {
                     *           "id": "fox",
                     *           "name": "fox",
                     *           "fill": [
                     *             "#d9642b"
                     *           ]
                     *         }
                     *       ],
                     *       "score": 0.97,
                     *       "metrics": {
                     *         "ssim": 0.98,
                     *         "psnr": 34.2
                     *       },
                     *       "cost_usd": 0.01,
                     *       "ms": 2140
                     *     }
                     */
                    readonly "application/json": components["schemas"]["VectorGraphics"];
                };
            };
        };
    };
    readonly generateSvg: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "prompt": "A fox made of paper"
                 *     }
                 */
                readonly "application/json": components["schemas"]["GenerateSvgRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "svg": "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 512 512\"><path id=\"fox\" fill=\"#d9642b\" d=\"M0 0h9v9z\"/></svg>",
                     *       "url": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.svg",
                     *       "files": {
                     *         "png": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.png"
                     *       },
                     *       "width": 512,
                     *       "height": 512,
                     *       "paths": 1,
                     *       "colors": 1,
                     *       "bytes": 108,
                     *       "layers": [
                     *         {
                     *           "id": "fox",
                     *           "name": "fox",
                     *           "fill": [
                     *             "#d9642b"
                     *           ]
                     *         }
                     *       ],
                     *       "score": 0.97,
                     *       "metrics": {
                     *         "ssim": 0.98,
                     *         "psnr": 34.2
                     *       },
                     *       "cost_usd": 0.01,
                     *       "ms": 2140
                     *     }
                     */
                    readonly "application/json": components["schemas"]["VectorGraphics"];
                };
            };
        };
    };
    readonly payVectorize: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "image": "https://example.com/logo.png"
                 *     }
                 */
                readonly "application/json": components["schemas"]["PayVectorizeRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "svg": "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 512 512\"><path id=\"fox\" fill=\"#d9642b\" d=\"M0 0h9v9z\"/></svg>",
                     *       "url": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.svg",
                     *       "files": {
                     *         "png": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.png"
                     *       },
                     *       "width": 512,
                     *       "height": 512,
                     *       "paths": 1,
                     *       "colors": 1,
                     *       "bytes": 108,
                     *       "layers": [
                     *         {
                     *           "id": "fox",
                     *           "name": "fox",
                     *           "fill": [
                     *             "#d9642b"
                     *           ]
                     *         }
                     *       ],
                     *       "score": 0.97,
                     *       "metrics": {
                     *         "ssim": 0.98,
                     *         "psnr": 34.2
                     *       },
                     *       "cost_usd": 0.01,
                     *       "ms": 2140
                     *     }
                     */
                    readonly "application/json": components["schemas"]["VectorGraphics"];
                };
            };
        };
    };
    readonly payGenerateSvg: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "prompt": "A fox made of paper"
                 *     }
                 */
                readonly "application/json": components["schemas"]["PayGenerateSvgRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "svg": "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 512 512\"><path id=\"fox\" fill=\"#d9642b\" d=\"M0 0h9v9z\"/></svg>",
                     *       "url": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.svg",
                     *       "files": {
                     *         "png": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.png"
                     *       },
                     *       "width": 512,
                     *       "height": 512,
                     *       "paths": 1,
                     *       "colors": 1,
                     *       "bytes": 108,
                     *       "layers": [
                     *         {
                     *           "id": "fox",
                     *           "name": "fox",
                     *           "fill": [
                     *             "#d9642b"
                     *           ]
                     *         }
                     *       ],
                     *       "score": 0.97,
                     *       "metrics": {
                     *         "ssim": 0.98,
                     *         "psnr": 34.2
                     *       },
                     *       "cost_usd": 0.01,
                     *       "ms": 2140
                     *     }
                     */
                    readonly "application/json": components["schemas"]["VectorGraphics"];
                };
            };
        };
    };
    readonly payGenerateSvgHd: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "prompt": "A fox made of paper"
                 *     }
                 */
                readonly "application/json": components["schemas"]["PayGenerateSvgHdRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "svg": "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 512 512\"><path id=\"fox\" fill=\"#d9642b\" d=\"M0 0h9v9z\"/></svg>",
                     *       "url": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.svg",
                     *       "files": {
                     *         "png": "https://agents.example/files/3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f.png"
                     *       },
                     *       "width": 512,
                     *       "height": 512,
                     *       "paths": 1,
                     *       "colors": 1,
                     *       "bytes": 108,
                     *       "layers": [
                     *         {
                     *           "id": "fox",
                     *           "name": "fox",
                     *           "fill": [
                     *             "#d9642b"
                     *           ]
                     *         }
                     *       ],
                     *       "score": 0.97,
                     *       "metrics": {
                     *         "ssim": 0.98,
                     *         "psnr": 34.2
                     *       },
                     *       "cost_usd": 0.01,
                     *       "ms": 2140
                     *     }
                     */
                    readonly "application/json": components["schemas"]["VectorGraphics"];
                };
            };
        };
    };
    readonly listFiles: {
        readonly parameters: {
            readonly query?: {
                /** @description Files a page. */
                readonly limit?: number;
                /** @description Files to skip. */
                readonly offset?: number;
                /** @description Of this agent of the account's alone: the name part of its address. */
                readonly agent?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "files": [
                     *         {
                     *           "name": "7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c.png",
                     *           "url": "https://agents.example/files/7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c.png",
                     *           "agent": "ada/summarizer",
                     *           "run_id": "run_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *           "bytes": 48213,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "hidden_at": null
                     *         }
                     *       ],
                     *       "limit": 20,
                     *       "offset": 0
                     *     }
                     */
                    readonly "application/json": components["schemas"]["Files"];
                };
            };
        };
    };
    readonly hideFile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The last part of the file's address. */
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c.png",
                     *       "hidden": true
                     *     }
                     */
                    readonly "application/json": components["schemas"]["FileVisibility"];
                };
            };
        };
    };
    readonly showFile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The last part of the file's address. */
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c.png",
                     *       "hidden": false
                     *     }
                     */
                    readonly "application/json": components["schemas"]["FileVisibility"];
                };
            };
        };
    };
    readonly deleteFile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The last part of the file's address. */
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c7d3f0a1c.png",
                     *       "deleted": true
                     *     }
                     */
                    readonly "application/json": components["schemas"]["DeletedFile"];
                };
            };
        };
    };
    readonly listApiKeys: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "keys": [
                     *         {
                     *           "id": "key_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *           "name": "server",
                     *           "scope": "own_agents",
                     *           "agents": [],
                     *           "tools": "all",
                     *           "rate_limit_per_minute": 60,
                     *           "max_credits_per_day": 500,
                     *           "max_credits_per_month": null,
                     *           "start": "amk_4fT9",
                     *           "last4": "x7Qa",
                     *           "client": null,
                     *           "last_used_from": "203.0.113.x",
                     *           "last_used_by": "python-requests/2.32.3",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "last_used_at": "2026-03-02T09:30:00.000Z",
                     *           "revoked_at": null,
                     *           "credits_today": 38,
                     *           "credits_this_month": null
                     *         }
                     *       ],
                     *       "keys_max": 5
                     *     }
                     */
                    readonly "application/json": components["schemas"]["Keys"];
                };
            };
        };
    };
    readonly createApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "name": "server",
                 *       "max_credits_per_day": 500
                 *     }
                 */
                readonly "application/json": components["schemas"]["CreateApiKeyRequest"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *       "name": "server",
                     *       "scope": "own_agents",
                     *       "agents": [],
                     *       "tools": "all",
                     *       "rate_limit_per_minute": 60,
                     *       "max_credits_per_day": 500,
                     *       "max_credits_per_month": null,
                     *       "token": "amk_<the key>"
                     *     }
                     */
                    readonly "application/json": components["schemas"]["NewKey"];
                };
            };
        };
    };
    readonly revokeApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description As the list of keys names it. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *       "revoked": true
                     *     }
                     */
                    readonly "application/json": components["schemas"]["Revoked"];
                };
            };
        };
    };
    readonly changeApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description As the list of keys names it. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "max_credits_per_day": 200
                 *     }
                 */
                readonly "application/json": components["schemas"]["ChangeApiKeyRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *       "name": "server",
                     *       "scope": "own_agents",
                     *       "agents": [],
                     *       "tools": "all",
                     *       "rate_limit_per_minute": 60,
                     *       "max_credits_per_day": 500,
                     *       "max_credits_per_month": null,
                     *       "changed": true
                     *     }
                     */
                    readonly "application/json": components["schemas"]["ChangedKey"];
                };
            };
        };
    };
    readonly listApiKeyCalls: {
        readonly parameters: {
            readonly query?: {
                /** @description Rows a page. */
                readonly limit?: number;
                /** @description `cursor` of the page before. */
                readonly cursor?: string;
                /** @description How they ended; `refused` before a run began. */
                readonly state?: "running" | "succeeded" | "failed" | "lost" | "refused";
                /** @description `handle/slug` of the agent. */
                readonly agent?: string;
                /** @description The day (UTC), such as `2026-11-22`. */
                readonly day?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description As the list of keys names it. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "calls": [
                     *         {
                     *           "run_id": "run_01k8q3v5w7x9z1b3d5f7h9j1k3",
                     *           "agent": "ada/summarizer",
                     *           "asked": null,
                     *           "state": "succeeded",
                     *           "reason": null,
                     *           "times": 1,
                     *           "credits_used": 5,
                     *           "ms": 840,
                     *           "error": null,
                     *           "created_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "cursor": null
                     *     }
                     */
                    readonly "application/json": components["schemas"]["KeyCalls"];
                };
            };
        };
    };
}
