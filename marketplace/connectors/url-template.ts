import { urlLengthMax } from "../../shared/public-address.ts";
import { percentDecoded } from "../percent-decoded.ts";
import { marked, nestedProblem } from "./nested-notation.ts";
import { unfitInput, unsendableInput } from "./result.ts";
import { type Filling, fillText, partsOf } from "./template.ts";

const origin = /^https?:\/\/[^{}/?#\\\s]+(?=[/?#]|$)/i;
/** Written out, since encodeURIComponent leaves them as they are. */
const alsoEncoded = /[!'()*]/g;

/** Scheme, host and port of a URL template, which hold no slots; undefined when they do, or when it has none. */
export const originOf = (template: string) => origin.exec(template)?.[0];

/** Why a URL template cannot be filled safely; read on after the field's name. */
export function urlTemplateProblem(template: string): string | undefined {
  const { path, query } = cut(template);
  if (climbs(path)) return "must not contain . or .. as a path segment";
  if (hasSlotInName(query.slice(1), { mayStandAlone: true }))
    return "must have its slots in a query's values, not in its names";
  return pairsProblem(query.slice(1));
}

/** What is wrong with a value in text such as `a=1&b={{c}}`. */
export function pairsProblem(pairs: string): string | undefined {
  const values = marked(pairs)
    .split("&")
    .map((pair) => pair.slice(pair.indexOf("=") + 1));
  return values.map((value) => nestedProblem(decodeOnce(value.replaceAll("+", " ")))).find((problem) => problem);
}

/**
 * A value fills a part of one path segment or of one query value and cannot leave it, for a server that decodes it once
 * or several times. Throws ConnectorError for an input that would.
 */
export function fillUrl(template: string, filling: Filling): string {
  const { path, query } = cut(template);
  let left = urlLengthMax;
  const fill = (part: string) =>
    fillText(part, filling, (value) => {
      const text = String(value ?? "");
      // Before it is encoded, joined and decoded again: a caller's text can be long, and stand in many slots.
      left -= text.length;
      if (left < 0) throw unfit();
      return encodeUrlPart(text);
    });
  const segments = path.split("/").map((segment) => {
    const filled = fill(segment);
    // A segment that vanishes makes another address: of /users/{{id}} the list of all.
    if (filled === "" && segment !== "") throw unfit();
    return filled;
  });
  const filled = segments.join("/");
  const url = filled + fill(query);
  if (url.length <= urlLengthMax && !climbs(filled) && !url.includes("%00") && URL.canParse(url)) return url;
  throw unfit();
}

/** Throws ConnectorError for half a character. */
export function encodeUrlPart(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw unsendableInput();
  return encodeURIComponent(text).replace(alsoEncoded, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Whether a slot stands before the `=` of a pair in text such as `a=1&b={{c}}`, or in a pair that has none. */
export function hasSlotInName(pairs: string, { mayStandAlone }: { mayStandAlone: boolean }): boolean {
  const text = partsOf(pairs).literals.join(slotMark);
  return text.split("&").some((pair) => {
    const equals = pair.indexOf("=");
    return equals < 0 ? !mayStandAlone && pair.includes(slotMark) : pair.slice(0, equals).includes(slotMark);
  });
}

/** No text that is stored holds it. */
const slotMark = "\0";

function cut(template: string): { path: string; query: string } {
  const at = template.search(/[?#]/);
  return at < 0 ? { path: template, query: "" } : { path: template.slice(0, at), query: template.slice(at) };
}

/** Decodes as often as a chain of servers might: each of them may take what it sees for a way up. */
function climbs(path: string): boolean {
  const [, below = path] = /^https?:\/\/[^/]*(.*)$/is.exec(path) ?? [];
  let text = below;
  for (let round = 0; round < 5; round += 1) {
    if (round > 0 && /\p{Cc}/u.test(text)) return true;
    if (text.normalize("NFKC").split(/[/\\]/).some(isDots)) return true;
    const decoded = decodeOnce(text);
    if (decoded === text) return false;
    text = decoded;
  }
  return true;
}

/** Also as servers see it that cut off parameters (`..;x`) or blanks. */
const isDots = (segment: string) => /^\s*\.{1,2}\s*(;.*)?$/s.test(segment);

function decodeOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, percentDecoded);
}

const unfit = () => unfitInput("The input does not make a valid address.");
