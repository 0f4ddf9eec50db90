import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
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
      const { replicas, strategy, template } = of("Deployment").spec;
      // A release would take away what load has added.
      expect(replicas).toBeUndefined();
      expect(of("HorizontalPodAutoscaler").spec.minReplicas).toBeGreaterThanOrEqual(2);
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

const written = (folder: string): Manifest[] =>
  parse(read(`infra/deploy/kubernetes/${folder}/kustomization.yaml`)).resources.flatMap((resource: string) =>
    resource.endsWith(".yaml")
      ? parseAllDocuments(read(`infra/deploy/kubernetes/${folder}/${resource}`)).map((document) => document.toJS())
      : [],
  );

test("each service has a role and a database of its own in the cluster of CloudNativePG", () => {
  const manifests = written("cloudnativepg");
  const { name, roles } = manifests
    .filter(({ kind }) => kind === "Cluster")
    .map(({ metadata, spec }) => ({ name: metadata.name, roles: spec.managed.roles }))[0]!;
  const databases = manifests.filter(({ kind }) => kind === "Database").map(({ spec }) => spec);
  for (const service of ["facilitator", "marketplace"]) {
    const passwordSecret = { name: `${service}-database` };
    expect(roles).toContainEqual({ name: service, login: true, passwordSecret });
    expect(databases).toContainEqual({ cluster: { name }, name: service, owner: service });
  }
});

/** What pods carry: ours by their manifests, the operator's by what it is known to give them. */
const labelsOf = (app: string) => ({ "app.kubernetes.io/name": app });
const poolerLabels = { "cnpg.io/poolerName": "database-pooler" };
const replicaLabels = { "cnpg.io/poolerName": "replica-pooler" };
const instanceLabels = { "cnpg.io/cluster": "database" };
const operator = { labels: labelsOf("cloudnative-pg"), namespace: "cnpg-system" };

interface Caller {
  readonly labels: Record<string, string>;
  /** The services' own when left out. */
  readonly namespace?: string;
}

function isLetIn(policies: readonly Manifest[], caller: Caller, labels: Record<string, string>, port: number): boolean {
  const matches = (selector: Manifest, of: Record<string, string>) =>
    Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => of[key] === value);
  const isFrom = ({ namespaceSelector, podSelector }: Manifest) =>
    matches(podSelector, caller.labels) &&
    (namespaceSelector === undefined
      ? caller.namespace === undefined
      : matches(namespaceSelector, { "kubernetes.io/metadata.name": caller.namespace ?? "agent-marketplace" }));
  const rules = policies
    .filter(({ spec }) => matches(spec.podSelector, labels))
    .flatMap(({ spec }) => (spec.ingress ?? []) as Manifest[]);
  return rules.some(
    ({ from, ports }) =>
      (from === undefined || from.some(isFrom)) && ports.some((one: { port: unknown }) => one.port === port),
  );
}

test("the cluster takes as many connections as a pooler opens, and some of the operator's and of migrations", () => {
  const manifests = written("cloudnativepg");
  const databases = manifests.filter(({ kind }) => kind === "Database").length;
  const { parameters } = manifests.find(({ kind }) => kind === "Cluster").spec.postgresql;
  const poolers = manifests.filter(({ kind }) => kind === "Pooler");
  expect([databases, poolers.length]).toEqual([2, 2]);
  for (const { spec } of poolers) {
    // A pool of each pair of role and database; replicas of one pooler may all be on one server.
    const opened = spec.instances * databases * Number(spec.pgbouncer.parameters.default_pool_size);
    expect(opened).toBeLessThanOrEqual(Number(parameters.max_connections ?? usualConnections) - 20);
  }
});

/** PostgreSQL's own. */
const usualConnections = 100;

test("the services reach the poolers and the Valkey, the poolers and their operator the databases, and nobody else any of them", () => {
  const manifests = [...written("base"), ...written("cloudnativepg")];
  const policies = manifests.filter(({ kind }) => kind === "NetworkPolicy");
  const pods = manifests.flatMap(({ spec }) => (spec?.template?.spec ? [spec.template.metadata.labels] : []));
  const services = [labelsOf("facilitator"), labelsOf("marketplace")];
  expect(pods).toEqual([labelsOf("migrate"), ...services, labelsOf("valkey")]);
  for (const labels of pods.slice(0, 3)) expect(isLetIn(policies, { labels }, poolerLabels, 5432)).toBe(true);
  for (const labels of services) {
    expect(isLetIn(policies, { labels }, replicaLabels, 5432)).toBe(true);
    expect(isLetIn(policies, { labels }, labelsOf("valkey"), 6379)).toBe(true);
  }
  for (const port of [5432, 8000]) {
    for (const caller of [{ labels: instanceLabels }, operator]) {
      expect(isLetIn(policies, caller, instanceLabels, port)).toBe(true);
    }
  }
  for (const labels of [poolerLabels, replicaLabels]) {
    expect(isLetIn(policies, { labels }, instanceLabels, 5432)).toBe(true);
  }
  const strangers = [{ labels: {} }, { labels: labelsOf("marketplace"), namespace: "another" }];
  for (const caller of [...strangers, { ...operator, namespace: "another" }]) {
    expect(isLetIn(policies, caller, labelsOf("valkey"), 6379)).toBe(false);
    for (const labels of [poolerLabels, replicaLabels, instanceLabels]) {
      expect(isLetIn(policies, caller, labels, 5432)).toBe(false);
    }
  }
});

const composed = () => parse(read("infra/deploy/compose.yaml"), { merge: true }) as Manifest;
const copiesOf = (name: string) => [`${name}-1`, `${name}-2`];

test("compose waits for a stop as long as it can take", () => {
  const { services } = composed();
  for (const name of ["facilitator", "marketplace"] as const) {
    for (const copy of copiesOf(name)) {
      expect(Number.parseInt(services[copy].stop_grace_period, 10) * 1_000).toBeGreaterThan(longestStopMs[name]);
    }
  }
});

test("the balancer of compose has every copy, waits as long as the longest call, and notices in time that a copy leaves", () => {
  const text = read("infra/deploy/haproxy.cfg");
  const { services } = composed();
  for (const [name, port] of Object.entries({ facilitator: 4022, marketplace: 4020 })) {
    for (const copy of copiesOf(name)) expect(text).toContain(`  server ${copy} ${copy}:${port}\n`);
    expect(text).toContain(`  bind :${port}\n`);
    expect(services.balancer.ports).toContain(`127.0.0.1:${port}:${port}`);
  }
  // Express answers both, in any case of letters.
  expect(
    text.match(/^frontend .*\n.*\n {2}http-request return status 404 if { path -i \/metrics \/metrics\/ }$/gm),
  ).toHaveLength(2);
  const of = (pattern: RegExp) => Number(pattern.exec(text)?.[1]) * 1_000;
  expect(of(/timeout server (\d+)s/)).toBeGreaterThan(stopTimeoutMs);
  expect(of(/check inter (\d+)s fall 1 /) + of(/timeout check (\d+)s/)).toBeLessThan(drainMs);
});

test("each setting that the databases' scripts ask for is given to them", () => {
  const { services } = composed();
  for (const [name, script] of Object.entries({
    "database-1": "run",
    "database-2": "run",
    backup: "backup",
    restore: "restore",
  })) {
    const { entrypoint, environment } = services[name];
    expect(entrypoint).toEqual(["bash", `/deploy/${script}.sh`]);
    const asked = new Set(
      read(`infra/deploy/database/${script}.sh`)
        .match(/\$\{?[A-Z][A-Z_]+\b/g)
        ?.map((one) => one.replace(/\W+/, "")),
    );
    expect([...asked].filter((variable) => !(variable in environment))).toEqual([]);
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

test("alert rules ask for figures that there are, and name runbooks that name them", () => {
  const code = ["facilitator/metrics", "marketplace/metrics", "shared/metrics", "shared/reads", "shared/valkey-counts"]
    .map((file) => read(`${file}.ts`))
    .join("\n");
  const recorded = rules().flatMap(({ record }) => record ?? []);
  for (const { alert, expr, annotations } of rules()) {
    const names = `${expr} ${annotations?.query ?? ""}`.matchAll(
      /\b(?:facilitator|marketplace|database|process|limits?)[_:][a-z0-9_:]+/g,
    );
    for (const [name] of names) {
      const figure = name.replace(/_(bucket|sum|count)$/, "");
      const known = recorded.includes(name) || code.includes(`"${figure}"`);
      expect({ alert, name, known }).toEqual({ alert, name, known: true });
    }
    if (alert) expect(read(annotations?.runbook ?? "none"), alert).toContain(`\`${alert}\``);
  }
});

test("what probes are answered, by a copy that leaves too, counts for no alert on answers", () => {
  const code = ["endpoints", "metrics-endpoint"].map((file) => read(`marketplace/http/${file}.ts`)).join("\n");
  const counts = rules()
    .flatMap(({ expr, annotations }) => [expr, annotations?.query ?? ""])
    .flatMap((query) => [...query.matchAll(/marketplace_answers_total(?:\{[^}]*\})?/g)].map(([selector]) => selector));
  expect(counts).toHaveLength(10);
  for (const selector of counts) {
    const [, leftOut = ""] = /operation!~"([^"]*)"/.exec(selector) ?? [];
    const counted = (operation: string) => !new RegExp(`^(?:${leftOut})$`).test(operation);
    for (const probe of ["getReadiness", "getLiveness", "getHealth", "getMetrics"]) {
      expect({ selector, probe, there: code.includes(`id: "${probe}"`), counted: counted(probe) }).toEqual({
        selector,
        probe,
        there: true,
        counted: false,
      });
    }
    for (const operation of ["runAgent", "getOpenApi", "getStatus"]) expect(counted(operation)).toBe(true);
  }
});

test.runIf(hasPromtool)("promtool takes the alert rules", async () => {
  await run("promtool", ["check", "rules", path("infra/deploy/prometheus/rules.yaml")]);
});

const payments = (state: string) => `facilitator_payments_unfinished{network="a", state="${state}"}`;
const settled = 'facilitator_answers_total{verb="settle", network="a", outcome="settled", reason=""}';

test.runIf(hasPromtool).each([
  ["that nobody knows the end of", { [payments("unknown")]: "1x60", [settled]: "0+60x60" }, true],
  ["sent on a network that is not configured any more", { [payments("broadcast")]: "2x60" }, true],
  ["sent on a network where nothing settles any more", { [payments("broadcast")]: "2x60", [settled]: "7x60" }, true],
  ["under way where others settle", { [payments("broadcast")]: "2x60", [settled]: "0+60x60" }, false],
])("payments %s alert", async (_, figures, alerts) => {
  const directory = await mkdtemp(join(tmpdir(), "rules-"));
  try {
    const series = Object.entries(figures).map(([name, values]) => ({ series: name, values }));
    const file = join(directory, "test.yaml");
    const firing = 'count(ALERTS{alertname="PaymentsUnknown", network="a", alertstate="firing"}) or vector(0)';
    const expected = { expr: firing, eval_time: "45m", exp_samples: [{ labels: "{}", value: alerts ? 1 : 0 }] };
    const tests = [{ interval: "1m", input_series: series, promql_expr_test: [expected] }];
    await writeFile(file, stringify({ rule_files: [path("infra/deploy/prometheus/rules.yaml")], tests }));
    const { stdout, stderr } = await run("promtool", ["test", "rules", file]).catch((error) => error);
    expect(`${stdout}${stderr}`).toContain("SUCCESS");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
