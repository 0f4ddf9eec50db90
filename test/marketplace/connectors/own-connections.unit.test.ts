import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Those that connect to what the operator configured, and to nothing else. */
const clientsOfConfigured = [
  "connectors/endpoint.ts",
  "connectors/evm.ts",
  "connectors/hedera/hedera.ts",
  "connectors/mock-model-detector.ts",
  "connectors/model-client.ts",
  "connectors/model-endpoint.ts",
  "payments/facilitator/client.ts",
  "sign-in/auth.ts",
  "sign-in/mail.ts",
];

/** Programs for readers to copy: texts here, which this service never runs. */
const shownPrograms = ["web/agent/snippets.ts", "../shared/reference/call-snippets.ts"];

test("nothing in the marketplace opens a connection but the outbound guard and the clients of what the operator configured", () => {
  const root = fileURLToPath(new URL("../../../marketplace/", import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(100);
  // Islands run in the browser, whose policy lets them connect to this service alone.
  const ofService = files.filter((name) => !name.startsWith("web/islands/") && !shownPrograms.includes(name));
  const connecting = ofService.filter((name) => opensConnections(readFileSync(root + name, "utf8")));
  expect(connecting.map((name) => name.replaceAll("\\", "/")).sort()).toEqual(clientsOfConfigured);
});

test.each([
  'import { request } from "undici";',
  'import net from "node:net";',
  'import { connect } from "tls";',
  'const http = await import("node:https");',
  'const { get } = require("http");',
  "return fetch(url);",
  "globalThis.fetch(url)",
  'new WebSocket("ws://x")',
  'import { http } from "viem";',
  'import { Client } from "@grpc/grpc-js";',
  'import { createTransport } from "nodemailer";',
  'import { HederaNodes } from "../../../shared/hedera/nodes.ts";',
])("a file that connects by itself is found: %s", (source) => {
  expect(opensConnections(source)).toBe(true);
});

test.each([
  'import type { IncomingMessage } from "node:http";',
  'import { isIP } from "node:net";',
  "await outbound.fetch(url, ask);",
  "await outbound.open(url, ask);",
])("a file that does not is left alone: %s", (source) => {
  expect(opensConnections(source)).toBe(false);
});

function opensConnections(source: string): boolean {
  const code = source.replaceAll(/^import type .*$/gm, "").replaceAll('import { isIP } from "node:net";', "");
  const modules =
    /(from|import\(|require\()\s*["'](undici|(node:)?(net|tls|http|https|http2|dgram)|@grpc\/grpc-js|ws|eventsource|nodemailer|aws4fetch|better-auth\/plugins\/generic-oauth|[./]+shared\/hedera\/nodes\.ts)["']/;
  const calls =
    /(?<![.\w])fetch\(|globalThis\.fetch|new (WebSocket|EventSource|XMLHttpRequest)\b|(?<![.\w"])webSocket\(/;
  return modules.test(code) || calls.test(code) || /import \{[^}]*\bhttp\b[^}]*\} from "viem"/.test(code);
}
