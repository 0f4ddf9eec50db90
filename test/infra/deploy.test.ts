import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { stopTimeoutMs } from "../../marketplace/time-limits.ts";
import { EnvReader } from "../../shared/env.ts";
import { readDrainMs } from "../../shared/leaving.ts";

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const read = (file: string) => readFileSync(path(file), "utf8");
const run = promisify(execFile);

const installed = async (program: string, ...args: string[]) =>
  run(program, args).then(
    () => true,
    () => false,
  );
const hasKubectl = await installed("kubectl", "version", "--client");
const hasPromtool = await installed("promtool", "--version");
if (!hasKubectl) console.warn("Manifests are not rendered: there is no kubectl");
if (!hasPromtool) console.warn("Alert rules are not checked by promtool: there is none");

// biome-ignore lint/suspicious/noExplicitAny: manifests of every kind
type Manifest = any;

async function rendered(folder: string): Promise<Manifest[]> {
  const { stdout } = await run("kubectl", ["kustomize", path(`infra/deploy/kubernetes/${folder}`)]);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

const facilitatorStopMs = 60_000;
const drainMs = readDrainMs(new EnvReader({}));
const longestStopMs = { facilitator: drainMs + facilitatorStopMs, marketplace: drainMs + stopTimeoutMs } as const;

test.runIf(hasKubectl)(
  "the manifests render, and every copy is given the time and the rights that it needs",
  async () => {
    const manifests = await rendered("base");
    for (const name of ["facilitator", "marketplace"] as const) {
      const of = (kind: string) => manifests.find((one) => one.kind === kind && one.metadata.name === name);
      const { strategy, template } = of("Deployment").spec;
      const { containers, terminationGracePeriodSeconds, automountServiceAccountToken } = template.spec;
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(longestStopMs[name]);
      expect(automountServiceAccountToken).toBe(false);
      expect(strategy.rollingUpdate).toMatchObject({ maxUnavailable: 0 });
      const [{ readinessProbe, livenessProbe, securityContext, envFrom }] = containers;
      expect(readinessProbe.httpGet.path).toBe("/readyz");
      expect(livenessProbe.httpGet.path).toBe("/livez");
      // It is noticed that a copy leaves before it takes no more connections.
      expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold * 1_000).toBeLessThan(drainMs);
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
      expect(envFrom).toContainEqual({ secretRef: { name: `${name}-secrets` } });
      for (const kind of ["Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "NetworkPolicy"]) {
        expect({ name, kind, there: of(kind) !== undefined }).toEqual({ name, kind, there: true });
      }
    }
    expect(manifests.filter(({ kind }) => kind === "Secret")).toEqual([]);
    const withDatabase = await rendered("cloudnativepg");
    expect(withDatabase.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["Cluster", "Pooler", "Job"]));
  },
);

test("compose waits for a stop as long as it can take", () => {
  const { services } = parse(read("infra/deploy/compose.yaml"), { merge: true });
  for (const name of ["facilitator", "marketplace"] as const) {
    expect(Number.parseInt(services[name].stop_grace_period, 10) * 1_000).toBeGreaterThan(longestStopMs[name]);
  }
});

const rules = () =>
  (parse(read("infra/deploy/prometheus/rules.yaml")) as { groups: Array<{ rules: Rule[] }> }).groups.flatMap(
    (group) => group.rules,
  );

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly annotations?: { readonly query: string; readonly runbook: string };
}

test("alert rules ask for figures that there are, and name runbooks that there are", () => {
  const code = ["facilitator/metrics.ts", "marketplace/metrics.ts", "shared/metrics.ts"].map(read).join("\n");
  const recorded = rules().flatMap(({ record }) => record ?? []);
  for (const { alert, expr, annotations } of rules()) {
    const names = `${expr} ${annotations?.query ?? ""}`.matchAll(
      /\b(?:facilitator|marketplace|database|process)[_:][a-z0-9_:]+/g,
    );
    for (const [name] of names) {
      const figure = name.replace(/_(bucket|sum|count)$/, "");
      const known = recorded.includes(name) || code.includes(`"${figure}"`);
      expect({ alert, name, known }).toEqual({ alert, name, known: true });
    }
    if (alert)
      expect({ alert, runbook: existsSync(path(annotations?.runbook ?? "none")) }).toEqual({ alert, runbook: true });
  }
});

test.runIf(hasPromtool)("promtool takes the alert rules", async () => {
  await run("promtool", ["check", "rules", path("infra/deploy/prometheus/rules.yaml")]);
});
