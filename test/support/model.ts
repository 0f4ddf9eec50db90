import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A language model on the OpenAI wire that answers what `answer` says; by default it repeats the last message. */
export async function startModel(): Promise<Model> {
  const model: Model = {
    url: "",
    calls: [],
    answer: async (call) => ({ text: `echo: ${call.messages.at(-1)?.content}` }),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const call = { ...JSON.parse(Buffer.concat(chunks).toString()), authorization: request.headers.authorization };
    model.calls.push(call);
    const { status = 200, body, text, finish = "stop", refusal = null } = await model.answer(call);
    response.writeHead(status, { "content-type": "application/json" });
    const choice = { index: 0, finish_reason: finish, message: { role: "assistant", content: text ?? null, refusal } };
    response.end(JSON.stringify(body ?? { id: "chat", object: "chat.completion", choices: [choice] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  Object.assign(model, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
  server.unref();
  return model;
}

export interface Model {
  readonly url: string;
  readonly calls: ModelCall[];
  answer: (call: ModelCall) => Promise<ModelAnswer>;
  stop(): Promise<void>;
}

export interface ModelCall {
  readonly model: string;
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>;
  readonly authorization?: string;
}

export interface ModelAnswer {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly finish?: string;
  readonly refusal?: string;
}
