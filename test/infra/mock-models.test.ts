import { crc32, inflateSync } from "node:zlib";
import { test as base, expect } from "vitest";
import { type MockModels, startMockModels } from "../../infra/mock-models/server.ts";
import { part, perFile } from "../support/part.ts";

const apiKey = "stand-in-key";

const test = base.extend(
  "standIn",
  perFile,
  part(() => startMockModels({ apiKey })),
);
test.afterEach(({ standIn }) => standIn.clearFaults());

test("an answer follows from the messages alone, has OpenAI's shape and says that no model made it", async ({
  standIn,
}) => {
  const { response, body } = await chat(standIn, "Why is the sky blue?");
  expect(response.headers.get("x-model-stand-in")).toBe("true");
  expect(body).toMatchObject({
    object: "chat.completion",
    model: "any",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", refusal: null } }],
  });
  expect(textOf(body)).toContain("made without a model");
  expect(textOf(body)).toContain("Why is the sky blue?");
  expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
  expect(textOf((await chat(standIn, "Why is the sky blue?")).body)).toBe(textOf(body));
  expect(textOf((await chat(standIn, "Why is the sea blue?")).body)).not.toBe(textOf(body));
});

test("json_object answers parse, and are refused as OpenAI refuses them when no message says json", async ({
  standIn,
}) => {
  const response_format = { type: "json_object" };
  const { body } = await chat(standIn, "As json: what is 2 + 2?", { response_format });
  expect(JSON.parse(textOf(body))).toMatchObject({ made_without_a_model: true, asked: "As json: what is 2 + 2?" });
  const refused = await chat(standIn, "what is 2 + 2?", { response_format });
  expect(refused.response.status).toBe(400);
  expect(refused.body.error).toMatchObject({ type: "invalid_request_error", param: "messages" });
});

test("max_tokens cuts an answer and says so", async ({ standIn }) => {
  const { body } = await chat(standIn, "Tell me everything", { max_tokens: 3 });
  expect(body.choices[0]?.finish_reason).toBe("length");
  expect(body.usage.completion_tokens).toBe(3);
});

test.for([
  ["no key", {}, undefined, 401],
  ["a wrong key", { authorization: "Bearer nope" }, undefined, 401],
  ["no messages", undefined, { model: "any", messages: [] }, 400],
  ["no model", undefined, { messages: [{ role: "user", content: "x" }] }, 400],
  ["streaming", undefined, { model: "any", messages: [{ role: "user", content: "x" }], stream: true }, 400],
  ["a body that is no JSON", undefined, "{", 400],
] as const)("%s is refused with OpenAI's error shape", async ([_name, headers, body, status], { standIn }) => {
  const answer = await post(
    standIn,
    "/v1/chat/completions",
    body ?? { model: "any", messages: [{ role: "user", content: "x" }] },
    headers,
  );
  expect(answer.response.status).toBe(status);
  expect(Object.keys(answer.body.error).sort()).toEqual(["code", "message", "param", "type"]);
});

test("faults happen in the order they were given, each as often as told, then answers are good again", async ({
  standIn,
}) => {
  await post(standIn, "/admin/faults", { status: 429, retryAfterSeconds: 7, times: 2 });
  await post(standIn, "/admin/faults", { status: 500 });
  const answers = [
    await chat(standIn, "a"),
    await chat(standIn, "a"),
    await chat(standIn, "a"),
    await chat(standIn, "a"),
  ];
  expect(answers.map(({ response }) => response.status)).toEqual([429, 429, 500, 200]);
  expect(answers[0]?.response.headers.get("retry-after")).toBe("7");
});

test("a told answer comes late, half, refused, garbled or not at all", async ({ standIn }) => {
  standIn.injectFault({ delayMs: 150 });
  const started = performance.now();
  await chat(standIn, "a");
  expect(performance.now() - started).toBeGreaterThanOrEqual(145);

  standIn.injectFault({ truncate: true });
  expect((await chat(standIn, "a")).body.choices[0]?.finish_reason).toBe("length");
  standIn.injectFault({ refuse: true });
  expect((await chat(standIn, "a")).body.choices[0]?.message).toMatchObject({
    content: null,
    refusal: expect.any(String),
  });
  standIn.injectFault({ garbled: true });
  await expect(chat(standIn, "a")).rejects.toThrow(SyntaxError);
  standIn.injectFault({ hangUp: true });
  await expect(chat(standIn, "a")).rejects.toThrow("fetch failed");
});

test("a fault nobody knows is refused, naming it", async ({ standIn }) => {
  const { response, body } = await post(standIn, "/admin/faults", { explode: true });
  expect(response.status).toBe(400);
  expect(body.error.message).toContain("explode");
});

test("images are real PNGs of the size asked for, drawn from the prompt", async ({ standIn }) => {
  const asked = { model: "any", prompt: "a red kite", size: "320x200", n: 2 };
  const { body } = await post(standIn, "/v1/images/generations", asked);
  const [first, second] = body.data.map(({ b64_json }) => Buffer.from(b64_json, "base64"));
  const decoded = decodePng(first!);
  expect(decoded).toMatchObject({ width: 320, height: 200 });
  expect(decoded.comment).toContain("without a model");
  expect(decoded.colors).toBeGreaterThan(3);
  expect(first).not.toEqual(second);
  const again = await post(standIn, "/v1/images/generations", asked);
  expect(again.body).toMatchObject({ data: body.data });
});

test("a link to an image gives the same picture, until for ever", async ({ standIn }) => {
  const { body } = await post(standIn, "/v1/images/generations", { prompt: "a red kite" });
  const linked = await post(standIn, "/v1/images/generations", { prompt: "a red kite", response_format: "url" });
  const fetched = await fetch(linked.body.data[0]!.url);
  expect(fetched.headers.get("content-type")).toBe("image/png");
  expect(Buffer.from(await fetched.arrayBuffer()).toString("base64")).toBe(body.data[0]!.b64_json);
});

test.for([{ size: "10x10" }, { size: "9999x9999" }, { size: "big" }, { n: 11 }, { prompt: "" }])(
  "an image request with %o is refused",
  async (change, { standIn }) => {
    const { response } = await post(standIn, "/v1/images/generations", { prompt: "x", ...change });
    expect(response.status).toBe(400);
  },
);

test("tests can see what was asked", async ({ standIn }) => {
  await chat(standIn, "remember me");
  expect(JSON.stringify(standIn.requests.at(-1))).toContain("remember me");
});

// --- parts -------------------------------------------------------------------------------------------------------

const chat = (standIn: MockModels, content: string, more: object = {}) =>
  post(standIn, "/v1/chat/completions", { model: "any", messages: [{ role: "user", content }], ...more });

async function post(
  standIn: MockModels,
  path: string,
  body: unknown,
  headers: object = { authorization: `Bearer ${apiKey}` },
) {
  const response = await fetch(`${standIn.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { response, body: (await response.json()) as Body };
}

const textOf = (body: Body) => body.choices[0]?.message.content ?? "";

/** Reads what `encodePng` may write, checking every checksum. */
function decodePng(png: Buffer) {
  expect(png.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const body = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(body));
    chunks.set(body.toString("latin1", 0, 4), body.subarray(4));
    at += length + 12;
  }
  expect([...chunks.keys()]).toEqual(["IHDR", "tEXt", "IDAT", "IEND"]);
  const [width, height] = [chunks.get("IHDR")!.readUInt32BE(0), chunks.get("IHDR")!.readUInt32BE(4)];
  const rows = inflateSync(chunks.get("IDAT")!);
  expect(rows.length).toBe((width * 3 + 1) * height);
  const colors = new Set<string>();
  for (let y = 0; y < height; y += 1) {
    const row = rows.subarray(y * (width * 3 + 1) + 1, (y + 1) * (width * 3 + 1));
    for (let x = 0; x < width; x += 1) colors.add(row.toString("hex", x * 3, x * 3 + 3));
  }
  return { width, height, colors: colors.size, comment: chunks.get("tEXt")!.toString("latin1") };
}

interface Body {
  choices: Array<{ finish_reason: string; message: { content: string | null } }>;
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  data: Array<{ b64_json: string; url: string }>;
  error: { message: string };
}
