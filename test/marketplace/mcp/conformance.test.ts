import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { marketTest } from "../../support/fixtures.ts";
import { startKeyProxy } from "../../support/key-proxy.ts";
import { seedMarket } from "../../support/marketplace.ts";
import { conformanceTools } from "../../support/mcp-fixtures.ts";
import { kept, perFile } from "../../support/part.ts";

/** The last release knows the revisions with a handshake; the one without is in the line that follows it. */
const eras = {
  "with a handshake, up to 2025-11-25": {
    suite: "@modelcontextprotocol/conformance@0.1.16",
    asked: [],
    offered: ["tools-call-with-progress", "tools-call-error", "dns-rebinding-protection"],
    notOffered: {
      "logging-set-level": "no logging: what happens in a run is the creator's business",
      "tools-call-with-logging": "no logging",
      "completion-complete": "no completion: tools' arguments are not completed by it",
      "tools-call-sampling": "no sampling: agents bring their own models, and a stateless server cannot ask back",
      "tools-call-elicitation": "no elicitation: a stateless server cannot ask back",
      "elicitation-sep1034-defaults": "no elicitation",
      "elicitation-sep1330-enums": "no elicitation",
      "server-sse-multiple-streams": "no sessions, whose streams it counts",
      "resources-list": "no resources: results link to plain HTTPS",
      "resources-read-text": "no resources",
      "resources-read-binary": "no resources",
      "resources-templates-read": "no resources",
      "resources-subscribe": "no resources",
      "resources-unsubscribe": "no resources",
      "prompts-list": "no prompts: an agent's prompt is its creator's secret",
      "prompts-get-simple": "no prompts",
      "prompts-get-with-args": "no prompts",
      "prompts-get-embedded-resource": "no prompts",
      "prompts-get-with-image": "no prompts",
    },
  },
  "of 2026-07-28": {
    suite: "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    asked: ["--requirements", "2026-07-28"],
    offered: ["http-header-validation", "json-schema-2020-12", "tools-call-with-progress", "dns-rebinding-protection"],
    notOffered: {
      "server-stateless:sep-2575-server-rejects-undeclared-capability": "no tool asks the client for anything",
      "server-stateless:sep-2575-missing-capability-http-400": "no tool asks the client for anything",
      "server-stateless:sep-2575-http-server-no-independent-requests-on-stream": "no tool asks the client for anything",
      "server-stateless:sep-2575-server-no-log-without-loglevel": "no logging",
      "server-stateless:sep-2575-server-sends-subscription-ack": "no subscriptions: no list tells of its changes",
      "server-stateless:sep-2575-server-tags-subscription-id": "no subscriptions",
      "completion-complete": "no completion",
      "resources-list": "no resources",
      "resources-read-text": "no resources",
      "resources-read-binary": "no resources",
      "resources-templates-read": "no resources",
      "sep-2164-resource-not-found": "no resources, of which one could not be found",
      "prompts-list": "no prompts",
      "prompts-get-simple": "no prompts",
      "prompts-get-with-args": "no prompts",
      "prompts-get-embedded-resource": "no prompts",
      "prompts-get-with-image": "no prompts",
      "caching:sep-2549-prompts-list-caching-hints": "no prompts",
      "caching:sep-2549-resources-list-caching-hints": "no resources",
      "caching:sep-2549-resources-templates-list-caching-hints": "no resources",
      "input-required-result-basic-elicitation": "no tool asks the client for anything",
      "input-required-result-basic-sampling": "no tool asks the client for anything",
      "input-required-result-basic-list-roots": "no tool asks the client for anything",
      "input-required-result-request-state": "no tool asks the client for anything",
      "input-required-result-multiple-input-requests": "no tool asks the client for anything",
      "input-required-result-multi-round": "no tool asks the client for anything",
      "input-required-result-non-tool-request": "no prompts",
      "input-required-result-result-type": "no tool asks the client for anything",
      "input-required-result-tampered-state": "no tool asks the client for anything",
      "input-required-result-missing-input-response": "no tool asks the client for anything",
      "input-required-result-ignore-extra-params": "no tool asks the client for anything",
      "input-required-result-capability-check": "no tool asks the client for anything",
      "tasks-lifecycle": "not the extension for tasks: a run is found in the history over REST",
      "tasks-capability-negotiation": "no tasks",
      "tasks-wire-fields": "no tasks",
      "tasks-request-state-removal": "no tasks",
      "tasks-mrtr-input": "no tasks",
      "tasks-request-headers": "no tasks",
      "tasks-dispatch-and-envelope": "no tasks",
      "tasks-required-task-error": "no tasks",
      "tasks-mrtr-composition": "no tasks",
      "http-custom-header-server-validation": "no tool has arguments sent as headers, too",
    },
  },
} as const;

const test = marketTest({ overrides: { builtInTools: (own) => [...own, ...conformanceTools] } }).extend(
  "proxy",
  perFile,
  async ({ market }, { onCleanup }) => {
    const { key } = await seedMarket(market.context, { rateLimit: 10_000 });
    return kept(startKeyProxy(market.url, key), onCleanup);
  },
);

/** What is not offered fails there; a scenario of that list that passes nevertheless fails the suite, too. */
test.for(Object.entries(eras))(
  "the official conformance suite for the protocol %s passes for everything that is offered",
  { timeout: 600_000 },
  async ([_era, { suite, asked, offered, notOffered }], { proxy, directory, skip }) => {
    const conformance = ["-y", "-p", "node@22", "-p", suite, "conformance"];
    const fetched = await run([...conformance, "list"]);
    if (fetched.code !== 0) {
      skip(`the conformance suite and Node 22 could not be fetched by npx: ${fetched.said.slice(-500)}`);
    }
    const expected = join(directory, "expected.yml");
    const lines = Object.entries(notOffered).map(([scenario, reason]) => `  - ${scenario} # ${reason}`);
    await writeFile(expected, ["server:", ...lines, ""].join("\n"));
    const server = ["server", "--url", `${proxy.url}/api/mcp`, "-o", directory];
    const { code, said } = await run([...conformance, ...server, ...asked, "--expected-failures", expected]);
    expect(code, said).toBe(0);
    for (const scenario of offered) expect(said).toContain(`✓ ${scenario}: `);
  },
);

function run(args: readonly string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile("npx", args, { cwd: tmpdir(), timeout: 280_000, maxBuffer: 10_000_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) || 1 : 0, said: stdout + stderr });
    });
  });
}
