import { isMailAddress } from "../accounts/users.ts";
import { displayOf } from "../api-keys/token.ts";

/** What an operator looks for, by the form of its id. */
export type Sought =
  | {
      readonly kind: "run" | "account" | "agent" | "key" | "report" | "handle" | "address" | "email" | "request";
      readonly text: string;
    }
  /** An EVM transaction or the nonce that a payer signed: both are 32 bytes. */
  | { readonly kind: "hash"; readonly text: string }
  | { readonly kind: "hedera_transaction"; readonly text: string }
  /** What the marketplace knows an EVM payment by: `asset:payer:nonce`. */
  | { readonly kind: "payment_key"; readonly text: string }
  | { readonly kind: "wallet"; readonly text: string }
  | { readonly kind: "quote"; readonly text: string };

/**
 * The kinds of id that a text can be by its form; none for any other text. A handle can look like the id of a quote, so both are possible.
 * Of a key no more is read than may be shown of it: all that is sought is written down.
 */
export function soughtBy(given: string): readonly Sought[] {
  const text = withoutSecret(given.trim());
  const found = forms.filter(([, form]) => (typeof form === "function" ? form(text) : form.test(text)));
  return found.map(([kind]) => ({ kind, text: kind === "hedera_transaction" ? plainHedera(text) : text }));
}

const forms: ReadonlyArray<readonly [Sought["kind"], RegExp | ((text: string) => boolean)]> = [
  ["run", /^run_[0-9a-z]{26}$/],
  ["account", /^acc_[0-9a-z]{1,40}$/],
  ["agent", /^agt_[0-9a-z]{1,40}$/],
  ["key", /^(key_[0-9a-z]{1,40}|amk_[\w-]{4})$/],
  ["report", /^rpt_[0-9a-z]{1,40}$/],
  ["hedera_transaction", /^0\.0\.\d{1,19}(@\d{1,12}\.\d{1,9}|-\d{1,12}-\d{1,9})$/],
  ["hash", /^0x[0-9a-f]{64}$/i],
  ["payment_key", /^0x[0-9a-f]{40}:0x[0-9a-f]{40}:0x[0-9a-f]{64}$/i],
  ["wallet", /^(0x[0-9a-f]{40}|0\.0\.\d{1,19})$/i],
  ["address", /^@?[a-z0-9-]{3,30}\/[a-z0-9-]{3,48}$/i],
  ["quote", /^[qbu][\w-]{20,60}$/],
  ["handle", /^@?[a-z0-9][a-z0-9-]{1,28}[a-z0-9]$/i],
  ["email", isMailAddress],
  // A caller may name its request (http.ts), so that most of the above could be one.
  ["request", /^[\w.-]{8,64}$/],
];

const withoutSecret = (text: string) => (/^amk_[\w-]{4}/.test(text) ? displayOf(text).start : text);

/** `0.0.5-1-000000002` → `0.0.5@1.000000002`, as payments keep it. */
function plainHedera(text: string): string {
  const [, account, seconds, nanos = ""] = /^(0\.0\.\d+)[@-](\d+)[.-](\d+)$/.exec(text) ?? [];
  return account ? `${account}@${seconds}.${nanos.padStart(9, "0")}` : text;
}

/** PostgreSQL keeps no NUL: what has one names nothing. */
export const withoutNul = (text: string): string => text.replaceAll("\0", "");

/** When an id of ours was made: its first ten characters are milliseconds (ids.ts). */
export function madeAt(id: string): Date {
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  const digits = id.slice(id.indexOf("_") + 1).slice(0, 10);
  return new Date([...digits].reduce((ms, digit) => ms * 32 + Math.max(0, alphabet.indexOf(digit)), 0));
}
