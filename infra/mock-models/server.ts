import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { createApp, type Listening, listen } from "../../shared/http.ts";
import { jsonBody } from "../../shared/request-body.ts";
import { answerChat, chatRequest, lacksTheWordJson } from "./chat.ts";
import { answerImages, imagesRequest, pictureAddress } from "./images.ts";
import { drawPicture, seedOf } from "./picture.ts";

/**
 * A server that speaks OpenAI's wire format and answers without a model: chat completions, images, the model list.
 * Every answer says so, in its text and as `x-model-stand-in: true`, except for `asModel`: then only the text does, so that a
 * test can pay for what a model would draw. Binds 127.0.0.1; any free port by default.
 */
export async function startMockModels(options: MockOptions = {}): Promise<MockModels> {
  const faults: Fault[] = [];
  let { asModel = false } = options;
  const { sideMax = 2_048 } = options;
  const requests: SeenRequest[] = [];
  const state: MockState = { faults, requests, count: 0, held: holding() };
  const clearFaults = () => void faults.splice(0);
  const app = createApp({ trustProxy: false });
  app.use((_request, response, next) => {
    if (!asModel) response.setHeader("x-model-stand-in", "true");
    next();
  });
  app.use(jsonBody({ bytesMax: 20_000_000 }));

  app.use("/v1", requireBearer(options.apiKey));
  app.get("/v1/models", (_request, response) => void response.json(models));
  app.post("/v1/chat/completions", withFaults(chat, state));
  app.post("/v1/images/generations", withFaults(images(sideMax), state));
  app.get("/images/:seed/:width/:height", (request, response) => {
    const { seed, width, height } = pictureAddress.parse(request.params);
    response.type("png").send(drawPicture(seed, width, height));
  });

  // Something for http-api agents to call.
  app.get("/demo/rate", answerRate);

  app.post("/admin/faults", (request, response) => {
    faults.push(fault.parse(request.body));
    response.json({ faults });
  });
  app.delete("/admin/faults", (_request, response) => {
    clearFaults();
    response.json({ faults });
  });
  app.get("/admin/requests", (_request, response) => void response.json({ requests }));

  app.use((request) => {
    throw new WireError(404, `Unknown request URL: ${request.method} ${request.path}.`, "unknown_url");
  });
  app.use(answerError);

  const listening = await listen(app, { host: "127.0.0.1", port: options.port ?? 0 });
  return {
    ...listening,
    baseUrl: `${listening.url}/v1`,
    requests,
    asked: () => state.count,
    injectFault: (injected) => void faults.push(fault.parse(injected)),
    clearFaults,
    answerHeld: () => {
      for (const fault of faults) fault.delayMs = 0;
      state.held.abort();
      state.held = holding();
    },
    poseAsModel: (poses) => {
      asModel = poses;
    },
  };
}

const answerRate: RequestHandler = (request, response) => {
  const [from, to] = [String(request.query.from ?? "USD"), String(request.query.to ?? "EUR")];
  const rate = (Number.parseInt(seedOf(`${from}/${to}`).slice(0, 6), 16) % 19_000) / 10_000 + 0.1;
  response.json({ from, to, rate: Number(rate.toFixed(4)), note: "made up by the mock" });
};

/** However many answers are held back by it. */
function holding(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

interface MockState {
  readonly faults: Fault[];
  readonly requests: SeenRequest[];
  /** How many requests for answers there have been, not only those kept. */
  count: number;
  /** Ends what the faults hold back. */
  held: AbortController;
}

/** Notes the request and applies the oldest fault that still has to happen. */
function withFaults(answer: Answer, state: MockState): RequestHandler {
  const { faults, requests } = state;
  return async (request, response) => {
    state.count += 1;
    requests.push({ path: request.path, body: request.body });
    if (requests.length > requestsKept) requests.shift();
    const current = faults[0];
    if (current && --current.times <= 0) faults.shift();
    if (current?.delayMs) await sleep(current.delayMs, undefined, { signal: state.held.signal }).catch(() => {});
    if (current?.hangUp) return void request.socket.destroy();
    if (current?.garbled) return void response.type("json").send('{"choices": [{"mess');
    if (current?.status) {
      if (current.retryAfterSeconds) response.setHeader("retry-after", String(current.retryAfterSeconds));
      const type = current.status === 429 ? "rate_limit_exceeded" : "server_error";
      throw new WireError(current.status, "The mock fails, as it was told to.", type);
    }
    answer(request, response, current ?? {});
  };
}

export interface MockModels extends Listening {
  /** What a client takes for OpenAI's base URL. */
  readonly baseUrl: string;
  /** The newest requests for answers, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** How many requests for answers there have been. */
  asked(): number;
  /** Makes the next `times` (default 1) requests for answers fail so; faults happen in the order they were given. */
  injectFault(injected: z.input<typeof fault>): void;
  /** Drops the faults that have still to happen. */
  clearFaults(): void;
  /** Answers requests that faults hold back now, and at once those that the faults given so far would hold back later. */
  answerHeld(): void;
  /** From the next answer on. */
  poseAsModel(poses: boolean): void;
}

interface MockOptions {
  readonly port?: number;
  readonly apiKey?: string;
  readonly asModel?: boolean;
  /** The longest side of a picture, whatever size is asked for: what is made of a small one is made soon. */
  readonly sideMax?: number;
}

interface SeenRequest {
  readonly path: string;
  readonly body: unknown;
}

const fault = z.strictObject({
  status: z.int().min(400).max(599).optional(),
  retryAfterSeconds: z.int().positive().optional(),
  delayMs: z.int().positive().max(600_000).optional(),
  /** Half an answer, with finish_reason `length`. */
  truncate: z.boolean().optional(),
  refuse: z.boolean().optional(),
  /** What a chat is answered with. */
  answer: z.string().optional(),
  hangUp: z.boolean().optional(),
  /** JSON that ends early. */
  garbled: z.boolean().optional(),
  times: z.int().positive().default(1),
});

type Fault = z.infer<typeof fault>;
type Answer = (request: Request, response: Response, fault: Partial<Fault>) => void;

const chat: Answer = (request, response, fault) => {
  const asked = chatRequest.parse(request.body);
  if (lacksTheWordJson(asked)) {
    const message =
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
    throw new WireError(400, message, null, "messages");
  }
  response.json(answerChat(asked, fault));
};

const images =
  (sideMax: number): Answer =>
  (request, response, { refuse }) => {
    const asked = imagesRequest.parse(request.body);
    if (refuse) throw new WireError(400, "Refused, as the mock was told to.", "moderation_blocked", "prompt");
    response.json(answerImages(asked, { origin: `http://${request.headers.host}`, sideMax }));
  };

function requireBearer(apiKey: string | undefined): RequestHandler {
  return (request, _response, next) => {
    if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
      throw new WireError(401, "Incorrect API key provided.", "invalid_api_key");
    }
    next();
  };
}

/** Errors in OpenAI's shape. */
class WireError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;

  constructor(status: number, message: string, code: string | null, param: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

const answerError: ErrorRequestHandler = (thrown, _request, response, _next) => {
  const error = asWireError(thrown);
  const type = error.status >= 500 ? "server_error" : "invalid_request_error";
  response.status(error.status).json({ error: { message: error.message, type, param: error.param, code: error.code } });
};

function asWireError(thrown: unknown): WireError {
  if (thrown instanceof WireError) return thrown;
  if (thrown instanceof z.ZodError) {
    const [issue] = thrown.issues;
    const param = issue?.path.join(".") || null;
    return new WireError(400, `Invalid value${param ? ` for '${param}'` : ""}: ${issue?.message}.`, null, param);
  }
  const { status, message } = thrown as { status?: number; message?: string };
  return new WireError(status ?? 500, message ?? "The mock stumbled.", null);
}

const requestsKept = 100;
const models = {
  object: "list",
  data: ["stand-in-text", "stand-in-image"].map((id) => ({ id, object: "model", created: 0, owned_by: "no-model" })),
};
