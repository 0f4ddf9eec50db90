import { z } from "zod";
import { anyObject } from "../http/shapes.ts";

export const rpcMessageShape = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.int()]).optional().describe("Absent in notifications."),
    method: z.string().describe("Such as initialize, tools/list or tools/call."),
    params: anyObject.optional(),
  })
  .meta({ id: "RpcMessage" });

const error = z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() });

export const rpcAnswerShape = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.int()]),
    result: anyObject.optional(),
    error: error.optional(),
  })
  .meta({ id: "RpcAnswer" });

export const rpcErrorShape = z
  .object({
    jsonrpc: z.literal("2.0"),
    error,
    id: z.union([z.string(), z.int()]).nullable().describe("Null where no message was read."),
  })
  .meta({ id: "RpcError" });
