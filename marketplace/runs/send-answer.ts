import type { Response } from "express";
import { outputJson } from "../connectors/output-json.ts";
import type { Output } from "../connectors/result.ts";

/** Answers with a run's result; the output comes last, as it was written before. */
export function sendAnswer<Answer extends { readonly output?: Output }>(response: Response, answer: Answer): void {
  const { output, ...rest } = answer;
  const text = JSON.stringify(rest);
  const json = output === undefined ? text : `${text.slice(0, -1)},"output":${outputJson(output)}}`;
  response.type("application/json").send(json);
}
