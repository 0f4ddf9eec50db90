import type { HederaNodes } from "../../../shared/hedera/nodes.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { Log } from "../../../shared/log.ts";
import { addressProblem, hostProblem } from "../../../shared/public-address.ts";
import type { HederaConfig } from "./config.ts";
import type { Mirror } from "./mirror.ts";

/**
 * Keeps the consensus nodes as the mirror lists them. The configured ones are the start and stay while they answer; a
 * list that cannot be read, or that does not know half of the nodes known here, changes nothing.
 */
export class AddressBook {
  readonly #config: HederaConfig;
  readonly #mirror: Mirror;
  readonly #nodes: HederaNodes;
  readonly #log: Log;
  /** A network of this machine lists its own addresses; a public one that lists private addresses is not believed. */
  readonly #allowPrivate: boolean;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(config: HederaConfig, { mirror, nodes, log }: { mirror: Mirror; nodes: HederaNodes; log: Log }) {
    this.#config = config;
    this.#mirror = mirror;
    this.#nodes = nodes;
    this.#log = log;
    const hosts = Object.keys(config.nodes).map((address) => address.slice(0, address.lastIndexOf(":")));
    this.#allowPrivate = hosts.some((host) => hostProblem(host) !== undefined);
  }

  /**
   * Reads the list and answers what speaks against the configured nodes: that it knows none of them. One may have left the
   * network since it was configured.
   */
  async start(): Promise<readonly string[]> {
    const { network, nodes } = this.#config;
    try {
      const listed = await this.refresh();
      const configured = Object.values(nodes);
      const missing = configured.filter((id) => !listed.has(id));
      if (listed.size === 0 || missing.length === 0) return [];
      if (missing.length === configured.length) return missing.map((id) => `${network} has no consensus node ${id}`);
      this.#log.warn(
        { network, missing },
        "configured nodes are not in the list of nodes: take out those that are gone",
      );
      return [];
    } catch (error) {
      // The configured nodes are what it begins with; not every mirror has the list.
      this.#log.warn({ err: error, network }, "the list of nodes could not be read; the configured ones are used");
      return [];
    }
  }

  /** Reads the list when that is due: every hour, every ten minutes after a failure, at once when no node answers. */
  async refreshWhenDue(): Promise<void> {
    if (Date.now() < this.#dueMs && !this.#nodes.allFailing) return;
    await this.refresh().catch((error) =>
      this.#log.warn({ err: error, network: this.#config.network }, "the list of nodes could not be read"),
    );
  }

  /** Reads the list and takes it over; answers the account ids in it. */
  async refresh(): Promise<ReadonlySet<string>> {
    this.#dueMs = Date.now() + retryMs;
    const entries = await readNodes(this.#mirror);
    const known = this.#nodes.ids;
    const listed = new Set(entries.map(({ node_account_id: id }) => id).filter(isAccountId));
    if (known.filter((id) => listed.has(id)).length * 2 < known.length) return listed;
    this.#nodes.learn(new Map(entries.flatMap((entry) => this.#read(entry))));
    this.#dueMs = Date.now() + everyMs;
    return listed;
  }

  /** A node that gives no address that can be used keeps the one it has. */
  #read({ node_account_id: id, service_endpoints: endpoints }: JsonObject): ReadonlyArray<readonly [string, string]> {
    if (!isAccountId(id) || !Array.isArray(endpoints)) return [];
    const target = targetOf(endpoints.slice(0, endpointsMax), this.#allowPrivate);
    return target === undefined ? [] : [[id, target]];
  }
}

/** All pages; throws MirrorSilentError, or when the list has no end. */
async function readNodes(mirror: Mirror): Promise<readonly JsonObject[]> {
  const entries: JsonObject[] = [];
  let path: string | undefined = firstPage;
  for (let page = 0; path !== undefined; page += 1) {
    if (page === pagesMax) throw new Error(`the list of nodes has more than ${pagesMax} pages`);
    const body: JsonObject | undefined = await mirror.get(path);
    if (!Array.isArray(body?.nodes)) throw new Error("the list of nodes is not as it should be");
    entries.push(...body.nodes.filter((entry) => typeof entry === "object" && entry !== null));
    const next: unknown = (body.links as JsonObject | null | undefined)?.next;
    path = typeof next === "string" && next.startsWith("/api/v1/network/nodes?") ? next : undefined;
  }
  return entries;
}

/**
 * A gRPC target of all addresses a node may be reached at; a name when it has no address. Endpoints with TLS are left
 * out: the certificate is the node's own, so it proves nothing, and every node has one without.
 */
function targetOf(endpoints: readonly (JsonObject | null)[], allowPrivate: boolean): string | undefined {
  const plain = endpoints.filter((endpoint) => isPort(endpoint?.port) && endpoint?.port !== tlsPort);
  const addresses = plain
    .filter((endpoint) => isUsableAddress(endpoint?.ip_address_v4, allowPrivate))
    .map((endpoint) => `${endpoint?.ip_address_v4}:${endpoint?.port}`);
  if (addresses.length > 0) return `ipv4:${[...new Set(addresses)].join(",")}`;
  const named = plain.find((endpoint) => isPublicName(endpoint?.domain_name));
  return named ? `dns:${named.domain_name}:${named.port}` : undefined;
}

const isAccountId = (id: unknown): id is string => typeof id === "string" && /^0\.0\.[1-9]\d{0,18}$/.test(id);
const isPort = (port: unknown) => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;

function isUsableAddress(given: unknown, allowPrivate: boolean): boolean {
  if (typeof given !== "string" || !/^\d{1,3}(\.\d{1,3}){3}$/.test(given)) return false;
  return addressProblem(given) === undefined || (allowPrivate && addressProblem(given) !== "no IP address");
}

function isPublicName(given: unknown): given is string {
  if (typeof given !== "string" || !/^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,8}\.?$/i.test(given)) return false;
  return hostProblem(given) === undefined;
}

const everyMs = 3_600_000;
const retryMs = 600_000;
/** The mirror gives no more than 25 at once. */
const firstPage = "/api/v1/network/nodes?limit=25";
const pagesMax = 8;
const endpointsMax = 16;
const tlsPort = 50_212;
