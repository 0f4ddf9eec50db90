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

export async function jsonOf(answer: Response): Promise<Record<string, unknown>> {
  const body: unknown = await answer.json().catch(() => ({}));
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
}

/** The service's own words for what went wrong. */
export function errorOf(status: number, body: Readonly<Record<string, unknown>>): string {
  return typeof body.error === "string" ? body.error : `The service answered ${status}.`;
}
