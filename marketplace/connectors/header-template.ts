import type { Problem } from "../parse.ts";
import { misconfigured } from "./refusal.ts";
import { unsendableInput } from "./result.ts";
import { type Filling, fillText, isOnlySlot, partsOf } from "./template.ts";

/** What the rest of the request is read by. */
const aboutTheBody = /^(content-type|content-encoding)$/i;

/** What keeps header templates from being filled safely, each problem under `headers`. */
export function headersProblems(headers: Readonly<Record<string, string>>): Problem[] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, template]) => {
    const path = ["headers", name];
    const again = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    if (again) return [{ path, message: "is there twice" }];
    const { literals, slots } = partsOf(template);
    if (aboutTheBody.test(name) && slots.length > 0) return [{ path, message: "must be without slots" }];
    return literals.every(isSendable) ? [] : [{ path, message: "holds characters that cannot be sent" }];
  });
}

/**
 * A value fills a header, or a part of one that it cannot leave. Throws ConnectorError for an input that would, or that
 * holds what no header may, and RefusalError for such a secret.
 */
export function fillHeader(template: string, filling: Filling): string {
  const alone = isOnlySlot(template);
  return fillText(template, filling, (value, { secret }) => {
    const text = String(value ?? "");
    if (secret && !isSendable(text)) throw misconfigured("a secret holds characters that no header may");
    const leaves = !(alone || secret) && /[",;\\]/.test(text);
    if (leaves || !isSendable(text)) throw unsendableInput();
    return text;
  });
}

const isSendable = (text: string) => /^[\t\x20-\x7e]*$/.test(text);
