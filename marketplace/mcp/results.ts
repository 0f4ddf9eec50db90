import { basename, extname } from "node:path";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { ApiError, ErrorCode } from "../../shared/errors.ts";
import type { Output, StandIn } from "../connectors/result.ts";
import { creditsText } from "../credits/amount.ts";
import { contentTypes, type FileKind } from "../files/files.ts";
import type { RunAnswer } from "../runs/asked-run.ts";

/** The result of a run, with its cost in `_meta`. */
export function runResult({ result, replayed }: RunAnswer): CallToolResult {
  const { success, output, error = "The agent failed.", receipt, run_id, credits_used, credits_remaining } = result;
  const _meta = {
    run_id,
    credits_used,
    credits_remaining,
    receipt,
    ...standInOf(output),
    ...(replayed ? { idempotent_replayed: true } : {}),
  };
  if (success && output) return { ...contentOf(output, receipt), _meta };
  return { isError: true, content: [text(error)], _meta };
}

/** What a mock model made, in development, is said to be that. */
export function standInOf(output: Output | null | undefined): StandIn {
  return output && "stand_in" in output && output.stand_in ? { stand_in: true } : {};
}

/**
 * Why a tool was not run, at no cost, or that it is not known whether a run was charged. The text ends with what can be done about it.
 * Where a payment came along, it may have been settled before.
 */
export function failureResult(
  { code, message, body, headers }: ApiError,
  { isPaid = false, isNamed = false }: FailedCall = {},
): CallToolResult {
  const retryAfterSeconds = headers["retry-after"] ?? headers["Retry-After"];
  const waitSeconds = retryAfterSeconds === undefined ? undefined : Number(retryAfterSeconds);
  const funds =
    code === "payment_required"
      ? ` It costs ${creditsText(Number(body.credits_required))}; ${body.credits_remaining} are left.`
      : "";
  const isFree = body.charged === false || (body.charged === undefined && !unsure.has(code) && !isPaid);
  const charge = isFree ? " Nothing was charged." : code === "gone" && !isPaid ? " It was charged then." : "";
  const isLeft = body.charged === "unknown" && !isNamed;
  const wait = waitSeconds === undefined || isLeft ? "" : ` Wait ${waitSeconds} seconds before that.`;
  const mayBeCharged = body.charged === true || body.charged === "unknown";
  return {
    isError: true,
    content: [text(`${message}${funds}${charge} ${adviceOn(code, body, isNamed)}${wait}`)],
    _meta: {
      ...(!mayBeCharged && { credits_used: 0 }),
      ...body,
      ...(waitSeconds === undefined ? {} : { retry_after_seconds: waitSeconds }),
    },
  };
}

interface FailedCall {
  /** A payment came along. */
  readonly isPaid?: boolean;
  /** It came with an idempotency key. */
  readonly isNamed?: boolean;
}

function adviceOn(code: ErrorCode, { charged, run_id }: ApiError["body"], isNamed: boolean): string {
  if (charged === "unknown") {
    if (isNamed) return "Call again with the same idempotency key: it is charged once.";
    return `Do not call again, which could be charged besides: tell the user to look at the run ${run_id} among their runs.`;
  }
  if (code === "conflict" && charged === false) return "Calling again with these arguments will not help.";
  return advice[code] ?? defaultAdvice;
}

export function text(words: string): ContentBlock {
  return { type: "text", text: words };
}

export function linkTo(uri: string): ContentBlock {
  const mimeType = contentTypes[extname(new URL(uri).pathname).slice(1) as FileKind];
  return {
    type: "resource_link",
    uri,
    name: basename(new URL(uri).pathname),
    ...(mimeType ? { mimeType } : {}),
  };
}

export function contentOf(
  output: Output,
  receipt: object | null,
): Pick<CallToolResult, "content" | "structuredContent"> {
  if ("images" in output)
    return { content: [text(output.images.join("\n")), ...output.images.map((url) => linkTo(url))] };
  switch (output.kind) {
    case "text":
      return { content: [text(output.text)] };
    case "json":
      return structured(output.data);
    case "receipt":
      return structured({ ...output, receipt });
  }
}

/** For programs as it is, for models as text. */
export function structured(data: object): Pick<CallToolResult, "content" | "structuredContent"> {
  return { content: [text(JSON.stringify(data))], structuredContent: data as Record<string, unknown> };
}

/** Here something may still be going on, or it was not looked whether it is. */
const unsure: ReadonlySet<ErrorCode> = new Set(["unavailable", "internal", "rate_limited"]);
const defaultAdvice = "Calling again may help; if not, tell the user.";
const advice: Partial<Record<ErrorCode, string>> = {
  bad_request: "Correct the arguments and call again.",
  invalid_value: "Correct the arguments and call again.",
  payment_required: "Calling again will not help: tell the user that credits or the limit must be raised first.",
  not_found: "The tool is gone: list the tools again.",
  gone: "Calling again will not help: tell the user.",
  conflict: "Use another idempotency key for another call.",
  rate_limited: "Call again later.",
  unavailable: "Call again later.",
};
