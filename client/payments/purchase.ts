import { agentPath } from "../agent-path.ts";
import { toHex } from "../hex.ts";
import type { ImageSource } from "../image.ts";
import type { BodyOf } from "../shapes.ts";
import type { PriceLimit } from "./sign.ts";

export interface AgentCall {
  /** `handle/slug` */
  readonly agent: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export type PaidVectorize = PriceLimit & Omit<BodyOf<"payVectorize">, "image"> & { readonly image: ImageSource };
export type PaidGenerate = PriceLimit & BodyOf<"payGenerateSvg"> & { readonly hd?: boolean | undefined };
export type CreditPurchase = BodyOf<"purchaseCredits"> & Pick<PriceLimit, "network">;

/** What is posted, with a payment and without. */
export interface Target {
  readonly path: string;
  readonly body: string;
  /** What the price is asked with, where the body is too large to be sent for that. */
  readonly priced?: string;
  readonly isWithKey?: boolean;
}

export function agentTarget(agent: string, input: Readonly<Record<string, unknown>>): Target {
  return { path: `/api/agent/${agentPath(agent)}`, body: JSON.stringify(input) };
}

/** SHA-256 of what is bought where, and of the name that its buyer gave it. */
export async function purchaseId(baseUrl: string, { path, body }: Target, purchase = ""): Promise<string> {
  return digestOf(JSON.stringify([baseUrl, path, body, purchase]));
}

/** Tells the account's key apart from others, without telling it; undefined for what is bought without one. */
export async function keyMark({ isWithKey }: Target, authorization = ""): Promise<string | undefined> {
  return isWithKey ? (await digestOf(authorization)).slice(0, 16) : undefined;
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toHex(new Uint8Array(digest));
}
