/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Code } from "../../../../shared/page/code.tsx";
import { highlighted } from "../../../../shared/page/highlight.tsx";
import { indentedJson } from "../../../../shared/page/indented-json.ts";
import { JsonCut, jsonShownMax } from "../../json-cut.tsx";

/** Longer ones are shown without colours, which take time. */
const colouredMax = 16_000;

/** JSON that is ready to be shown. */
export interface ShownJson {
  readonly code: ComponentChildren;
  readonly isCut: boolean;
}

export async function shownJson(value: unknown): Promise<ShownJson> {
  if (value === undefined) return { code: "", isCut: false };
  const { text, isCut } = indentedJson(value, jsonShownMax);
  return { code: text.length <= colouredMax ? await highlighted(text, "json") : text, isCut };
}

export function JsonCode({ id, json: { code, isCut } }: { id: string; json: ShownJson }) {
  return (
    <>
      <Code id={id} title="JSON" wrap>
        {code}
      </Code>
      {isCut && <JsonCut />}
    </>
  );
}
