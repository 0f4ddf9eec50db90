/** Something that was answered instead of a quote or a result. */
export class AnswerError extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(errorOf(status, body));
    this.status = status;
    this.body = body;
  }
}

/** The service is not reached at all; said in words. */
export class UnreachableError extends Error {}

/** Throws UnreachableError. */
export async function asked(address: string, init: RequestInit): Promise<Response> {
  return fetch(address, init).catch(() => {
    throw new UnreachableError("The service cannot be reached from here. Look at your connection, then try again.");
  });
}

export async function jsonOf(answer: Response): Promise<Record<string, unknown>> {
  const body: unknown = await answer.json().catch(() => ({}));
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
}

/** The service's own words for what went wrong, or ours where something before it answered. */
export function errorOf(status: number, body: Readonly<Record<string, unknown>>): string {
  if (typeof body.error === "string") return body.error;
  if (status === 429) return "Too many requests from here. Try again in a minute.";
  if (status >= 502 && status <= 504) return `The service cannot answer right now (${status}). Try again in a minute.`;
  return `The service answered ${status}.`;
}
