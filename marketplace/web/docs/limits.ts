import { extraInstructionsLengthMax } from "../../agents/field-limits.ts";
import { type AnonymousLimitsConfig, describeAnonymousLimits } from "../../anonymous-limits.ts";
import { keysPerAccount } from "../../api-keys/create.ts";
import { historyDays } from "../../history-days.ts";
import { imageBody, runBody } from "../../http/body-limits.ts";
import { usualCallsPerMinute } from "../../http/calls-per-minute.ts";
import { rowsMax, rowsUsual } from "../../query.ts";
import { outputsKeptHours } from "../../runs/kept-outputs.ts";
import { drawingWaitSeconds, maxTimeoutSeconds } from "../../time-limits.ts";
import { tableOf } from "./generated.ts";

/** The limits that a caller can meet, from the constants and settings that hold them. */
export function limitTable(anonymous: AnonymousLimitsConfig, outputBytes: number): string {
  return tableOf(
    ["Limit", "Value"],
    [
      ["API keys of an account", figure(keysPerAccount)],
      ["Requests of a key", `${figure(usualCallsPerMinute)} a minute, unless it was made with another limit`],
      ...describeAnonymousLimits(anonymous).map(([label, calls]) => [label, perMinute(calls)] as const),
      ["Body of a run", bytes(runBody.bytesMax)],
      ["Body with an image to trace", bytes(imageBody.bytesMax)],
      ["Wishes beside the input (`extraInstructions`)", `${figure(extraInstructionsLengthMax)} characters`],
      ["Rows of a page of a list", `1 to ${rowsMax}, ${rowsUsual} where none is asked for`],
      ["How long a run is kept", `${historyDays} days`],
      [
        "What the outputs of an account's runs may hold",
        `${bytes(outputBytes)}; beyond it the oldest go, after ${outputsKeptHours} hours at the earliest`,
      ],
      ["How long a quoted payment must be good for", `${maxTimeoutSeconds} seconds`],
      ["How long a client should wait for a run", `${maxTimeoutSeconds} seconds; ${drawingWaitSeconds} for drawings`],
    ],
  );
}

const figure = (value: number) => value.toLocaleString("en");
const perMinute = (value: number) => (value === 0 ? "no limit" : `${figure(value)} a minute`);
const bytes = (value: number) => `${figure(value)} bytes`;
