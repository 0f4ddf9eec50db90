import type { Endpoint as AnyEndpoint } from "../../shared/endpoint.ts";

/** One operation of the daemon. */
export type Endpoint = AnyEndpoint<Access, Tag>;

/**
 * Who may call, and how often. `payments`: any caller, counted over all copies by address, or by the token of a known resource
 * server. `reads`: any caller, counted by address. `unlimited`: any caller, such as a probe, without a limit.
 */
export type Access = "payments" | "reads" | "unlimited";

/** The chapters of the OpenAPI document; `tags` in openapi.ts says what each is about. */
export type Tag = "Payments" | "Record" | "Discovery" | "Service";
