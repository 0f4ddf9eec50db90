/** @jsxRuntime automatic @jsxImportSource preact */
import { Callout } from "../../../shared/page/callout.tsx";
import type { Refusal } from "./refusal.ts";

/** Above a form: what was refused and is about none of its fields. */
export function RefusedNote({ refusal, fields = [] }: { refusal: Refusal | undefined; fields?: readonly string[] }) {
  if (!refusal || (refusal.field !== undefined && fields.includes(refusal.field))) return null;
  return <Callout tone="bad" role="alert" title={refusal.error.message} />;
}
