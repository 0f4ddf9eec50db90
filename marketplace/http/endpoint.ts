import type { Endpoint as AnyEndpoint } from "../../shared/endpoint.ts";

/** One operation of the marketplace. */
export type Endpoint = AnyEndpoint<Access, Tag>;

/**
 * Who may call. `public`: any caller, as often as an address may ask; `unlimited`: any caller, for probes and metrics, without a limit.
 * `apiKey`: a buyer's or a creator's program. `session`: a person who is signed in; `account`: one who has an open account; neither is
 * let in from a page of another origin. `operator`: a person of the operator's, who showed a code within the last minutes.
 */
export type Access = "public" | "unlimited" | "apiKey" | "session" | "account" | "operator";

/** The chapters of the OpenAPI document; `tags` in openapi.ts says what each is about. */
export type Tag =
  | "Agents"
  | "Runs"
  | "Credits"
  | "Pay per call"
  | "Vector graphics"
  | "Tool server"
  | "Files"
  | "Rewards"
  | "Sign-in"
  | "Account"
  | "API keys"
  | "Payout wallets"
  | "Publishing"
  | "Operators"
  | "Service";
