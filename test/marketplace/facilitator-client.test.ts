import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FacilitatorClient } from "../../marketplace/payments/facilitator-client.ts";

let server: Server;
let client: FacilitatorClient;
let asked: string[];
let answers: Array<{ status?: number; body: string }>;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url as string);
    const { status = 200, body } = answers.shift() ?? { body: "{}" };
    request.resume().on("end", () => response.writeHead(status).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  client = new FacilitatorClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
});
afterAll(async () => {
  await client?.stop();
  server?.close();
});

const answered = (...bodies: readonly string[]) => {
  asked = [];
  answers = bodies.map((body) => ({ body }));
};

test("a no and a yes are answers, under the path that was configured", async () => {
  answered('{"isValid":false,"invalidReason":"x"}', '{"success":true,"transaction":"t"}');
  expect(await client.verify("{}")).toEqual({ isValid: false, invalidReason: "x" });
  expect(await client.settle("{}")).toEqual({ success: true, transaction: "t" });
  expect(asked).toEqual(["/base/verify", "/base/settle"]);
});

test.each([
  ["no JSON", "<html>"],
  ["JSON of something else", '{"ok":true}'],
  ["longer than a megabyte", `{"isValid":true,"success":true,"payer":"${"x".repeat(1_000_000)}"}`],
  ["a text that cannot be stored", '{"isValid":true,"success":true,"payer":"0x\\u0000","transaction":"t"}'],
])("what is %s is no answer, and a settlement is asked about once more", async (_what, body) => {
  answered(body, body, body);
  expect(await client.verify("{}")).toBeUndefined();
  expect(await client.settle("{}")).toBeUndefined();
  expect(asked).toEqual(["/base/verify", "/base/settle", "/base/settle"]);
});
