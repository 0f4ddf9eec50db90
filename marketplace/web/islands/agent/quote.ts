/** One way to pay that a quote names (x402 version 2). */
export interface Accepted {
  readonly scheme: string;
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface Quote {
  readonly resource: object;
  readonly accepts: readonly Accepted[];
  /** When it was made by the server's clock, which signatures count by. */
  readonly at: Date;
}

/** Something that was answered instead of a quote or a result. */
export class AnswerError extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.error === "string" ? body.error : `The service answered ${status}.`);
    this.status = status;
    this.body = body;
  }
}

/** Asks what a call costs now, without a charge. */
export async function askQuote(url: string, body: string): Promise<Quote> {
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const header = answer.headers.get("payment-required");
  if (answer.status !== 402 || header === null) throw new AnswerError(answer.status, await jsonOf(answer));
  const { resource, accepts } = JSON.parse(fromBase64(header)) as Pick<Quote, "resource" | "accepts">;
  return { resource, accepts, at: new Date(answer.headers.get("date") ?? Date.now()) };
}

export async function jsonOf(answer: Response): Promise<Record<string, unknown>> {
  const body: unknown = await answer.json().catch(() => ({}));
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
}

/** Base64 of JSON, as payment headers carry it. */
export function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function fromBase64(text: string): string {
  return new TextDecoder().decode(bytesOf(text));
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
