/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Code } from "../../../../shared/page/code.tsx";
import { highlighted } from "../../../../shared/page/highlight.tsx";

/** A page shows no more characters of one value; the API answers all of it. */
const shownMax = 60_000;
/** Longer ones are shown without colours, which take time. */
const colouredMax = 16_000;

/** JSON that is ready to be shown. */
export interface ShownJson {
  readonly code: ComponentChildren;
  readonly isCut: boolean;
}

export async function shownJson(value: unknown): Promise<ShownJson> {
  const text = JSON.stringify(value, undefined, 2) ?? "";
  if (text.length <= colouredMax) return { code: await highlighted(text, "json"), isCut: false };
  return { code: text.slice(0, shownMax), isCut: text.length > shownMax };
}

export function JsonCode({ id, json: { code, isCut } }: { id: string; json: ShownJson }) {
  return (
    <>
      <Code id={id} title="JSON" wrap>
        {code}
      </Code>
      {isCut && <p class="small dim">This is its beginning; the API answers all of it.</p>}
    </>
  );
}
