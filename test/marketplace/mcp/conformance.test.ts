import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startKeyProxy } from "../../support/key-proxy.ts";
import { seedMarket, startMarketplace } from "../../support/marketplace.ts";
import { conformanceTools } from "../../support/mcp-fixtures.ts";

const suite = ["-y", "-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.1.16", "conformance"];

/** Scenarios that fail because what they try is not offered. One that passes nevertheless fails the suite, too. */
const notOffered = {
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
};

test("the official conformance suite passes for everything that is offered", async (context) => {
  const fetched = await run([...suite, "list"]);
  if (fetched.code !== 0) {
    context.skip(`the conformance suite and Node 22 could not be fetched by npx: ${fetched.said.slice(-500)}`);
  }
  const market = await startMarketplace({ overrides: { builtInTools: (own) => [...own, ...conformanceTools] } });
  const { key } = await seedMarket(market.context);
  const proxy = await startKeyProxy(market.url, key);
  const directory = await mkdtemp(join(tmpdir(), "conformance-"));
  const expected = join(directory, "expected.yml");
  const lines = Object.entries(notOffered).map(([scenario, reason]) => `  - ${scenario} # ${reason}`);
  await writeFile(expected, ["server:", ...lines, ""].join("\n"));
  try {
    const asked = ["server", "--url", `${proxy.url}/api/mcp`, "--expected-failures", expected, "-o", directory];
    const { code, said } = await run([...suite, ...asked]);
    expect(code, said).toBe(0);
    const pending = ["server", "--url", `${proxy.url}/api/mcp`, "--scenario", "json-schema-2020-12", "-o", directory];
    expect(await run([...suite, ...pending])).toMatchObject({ code: 0 });
    for (const offered of ["tools-call-with-progress", "tools-call-error", "dns-rebinding-protection"]) {
      expect(said).toContain(`✓ ${offered}: `);
    }
  } finally {
    await proxy.stop();
    await market.stop();
    await rm(directory, { recursive: true, force: true });
  }
}, 300_000);

function run(args: readonly string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile("npx", args, { cwd: tmpdir(), timeout: 140_000, maxBuffer: 10_000_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) || 1 : 0, said: stdout + stderr });
    });
  });
}
