import { answerPreview, type PreviewQuestion } from "./preview.ts";

/** A page's worker: previews are traced beside the page, which stays quick. */
addEventListener("message", ({ data }: MessageEvent<PreviewQuestion>) => postMessage(answerPreview(data)));
