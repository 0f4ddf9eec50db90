import { ApiError, type ErrorCode } from "../../../shared/errors.ts";

/** What a verb refused of a posted form: the form is shown again with it. */
export class Refusal {
  /** The hidden field `act` of the form that was posted. */
  readonly act: string;
  readonly form: URLSearchParams;
  readonly error: ApiError;

  constructor(error: ApiError, act: string, form: URLSearchParams) {
    this.error = error;
    this.act = act;
    this.form = form;
  }

  /** The field that it is about, by the name that the API and the form have for it. */
  get field(): string | undefined {
    const { field } = this.error.body as { field?: unknown };
    return typeof field === "string" ? field : undefined;
  }

  /** `"name" must have 1 to 100 characters.` → `Must have 1 to 100 characters.` */
  get sentence(): string {
    const said = this.error.message.replace(/^"\w+" /, "").split("; ")[0] ?? this.error.message;
    return said.charAt(0).toUpperCase() + said.slice(1).replace(/\.?$/, ".");
  }

  /** What stands at the field. */
  at(field: string): string | undefined {
    return this.field === field ? this.sentence : undefined;
  }

  /** What was typed into it. */
  value(field: string): string | undefined {
    return this.form.get(field) ?? undefined;
  }
}

/** Whether the person can put it right in the form. Others' things stay a page that says so, as do failures of ours. */
export function isForForm(error: unknown): error is ApiError {
  return error instanceof ApiError && formCodes.has(error.code);
}

const formCodes: ReadonlySet<ErrorCode> = new Set([
  "bad_request",
  "payment_required",
  "conflict",
  "too_large",
  "invalid_value",
  "rate_limited",
]);

/** A whole number of a form's field; undefined when it was left empty. 422 that names the field for anything else. */
export function wholeNumber(form: URLSearchParams, field: string): number | undefined {
  const typed = (form.get(field) ?? "").trim();
  const text = /^[1-9]\d{0,2}([, ]\d{3})+$/.test(typed) ? typed.replaceAll(/[, ]/g, "") : typed;
  if (text === "") return undefined;
  const value = Number(text);
  if (/^\d{1,15}$/.test(text)) return value;
  throw new ApiError("invalid_value", `"${field}" must be a whole number.`, { body: { field } });
}

/** What a form asks for is so already: nothing was changed, and no page says that it was. */
export function unchanged(field: string, message: string): ApiError {
  return new ApiError("invalid_value", `"${field}" ${message}.`, { body: { field } });
}
