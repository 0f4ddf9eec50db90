import { fromBase64 } from "../../../../client/base64.ts";
import type { Made } from "./ask.ts";
import type { Bench } from "./bench.ts";

/** A drawing that was paid for, or asked for with credits, and is not here yet. */
export interface UnderWay {
  readonly draws: boolean;
  readonly settings: object;
  /** The picture to trace; a drawing from words has none. */
  readonly picture: Blob | undefined;
  /** The picture's, where it is known. */
  readonly fileName?: string | undefined;
  readonly finish: () => Promise<Made>;
}

let isFinishing = false;

/** Fetches and shows it. One thing at a time: what is being made already is not asked for beside that. */
export async function finishUnderWay(form: HTMLFormElement, bench: Bench, underWay: UnderWay): Promise<void> {
  if (isFinishing || bench.state.since !== undefined) return;
  isFinishing = true;
  try {
    const { draws, settings, picture: asked, fileName = "picture", finish } = underWay;
    const choice = form.querySelector<HTMLInputElement>(`input[name="make"][value="${draws ? "draw" : "trace"}"]`);
    if (choice) choice.checked = true;
    if (asked) await bench.takePicture(asked, fileName);
    bench.set({});
    await bench.take({ draws, settings, picture: draws ? undefined : bench.state.picture }, finish, true);
  } finally {
    isFinishing = false;
  }
}

/** The picture of a request's body. */
export function pictureIn(image: string | undefined): Blob | undefined {
  if (image === undefined) return undefined;
  const bytes = fromBase64(image);
  const types: Readonly<Record<number, string>> = { 137: "image/png", 255: "image/jpeg", 82: "image/webp" };
  return new Blob([bytes], { type: types[bytes[0] ?? 0] ?? "" });
}
