import { expect } from "vitest";
import { paidTest } from "../support/fixtures.ts";
import { startHttpServer } from "../support/http-server.ts";
import { part, perFile } from "../support/part.ts";
import { encodeHeader, payQuote, post } from "../support/pay-call.ts";

interface Span {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** A collector: takes spans as OTLP over HTTP, in JSON. */
async function startCollector() {
  const bodies: string[] = [];
  const server = await startHttpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.url === "/v1/traces") bodies.push(body);
    response.setHeader("content-type", "application/json").end("{}");
  });
  return {
    url: server.url,
    text: () => bodies.join("\n"),
    spans: () => bodies.flatMap((body) => spansIn(JSON.parse(body))),
    stop: server.stop,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: an OTLP message is walked freely
const spansIn = ({ resourceSpans }: any): Span[] =>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  resourceSpans.flatMap(({ resource, scopeSpans }: any) => {
    const { value } = resource.attributes.find(({ key }: { key: string }) => key === "service.name");
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return scopeSpans.flatMap(({ spans }: any) => spans.map((span: Span) => ({ ...span, service: value.stringValue })));
  });

const test = paidTest()
  .extend("collector", perFile, part(startCollector))
  .extend("options", perFile, ({ collector }) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    return { env, facilitatorEnv: env };
  });

test("a paid call is one trace over both services, of the caller's, from the request to the chain and the database, and tells no secrets", async ({
  collector,
  paid,
}) => {
  const body = { text: "nobody else's business" };
  const proofs = [];
  for (const chain of ["evm", "hedera"] as const) {
    proofs.push(await payQuote(paid, chain, await post(paid.url, { body })));
  }
  const traceIds = ["4bf92f3577b34da6a3ce929d0e0e4736", "5bf92f3577b34da6a3ce929d0e0e4737"];
  for (const [at, proof] of proofs.entries()) {
    const response = await fetch(paid.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "payment-signature": encodeHeader(proof),
        traceparent: `00-${traceIds[at]}-00f067aa0ba902b7-01`,
      },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    await response.text();
  }
  // What is left is sent when a service stops.
  await paid.stop();
  const [onEvm = [], onHedera = []] = traceIds.map((id) => collector.spans().filter(({ traceId }) => traceId === id));
  const route = "POST /api/agent/{handle}/{slug}";
  for (const spans of [onEvm, onHedera]) {
    const named = (service: string, name: string) =>
      spans.filter((one) => one.service === service && one.name === name);
    expect(named("marketplace", route)).toMatchObject([{ parentSpanId: "00f067aa0ba902b7" }]);
    expect(named("marketplace", "run llm")).toHaveLength(1);
    for (const verb of ["POST /verify", "POST /settle"]) {
      const callers = named("marketplace", verb).map(({ spanId }) => spanId);
      const answers = named("facilitator", verb);
      expect(answers.length).toBeGreaterThan(0);
      for (const { parentSpanId } of answers) expect(callers).toContain(parentSpanId);
    }
    expect(spans.filter(({ name }) => /^sql claim-(signed-)?payments\b/.test(name))).toHaveLength(1);
    expect(named("facilitator", "sql finish-payments")).toHaveLength(1);
    // Each is part of what another one did.
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const loose = spans.filter(
      ({ parentSpanId = "" }) => !ids.has(parentSpanId) && parentSpanId !== "00f067aa0ba902b7",
    );
    expect(loose).toEqual([]);
  }
  expect(onEvm.map(({ name }) => name)).toContain("eth_sendRawTransaction");
  expect(onHedera.map(({ name }) => name)).toContain("hedera transaction");
  const secrets = [body.text, paid.setting.variables.EIP155_84532_SIGNERS!.slice(2)];
  for (const { payload } of proofs as Array<{ payload: { signature?: string; transaction?: string } }>) {
    secrets.push((payload.signature ?? payload.transaction)!);
  }
  for (const secret of secrets) expect(collector.text()).not.toContain(secret);
});
