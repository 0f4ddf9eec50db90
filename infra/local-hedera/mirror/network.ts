import { entityText } from "../hapi/ids.ts";
import { limitOf, numberFilter, orderOf } from "./params.ts";
import type { MirrorView } from "./view.ts";

export function getExchangeRate(view: MirrorView): object {
  const { chain } = view;
  const rate = {
    cent_equivalent: chain.rate.centEquivalent,
    hbar_equivalent: chain.rate.hbarEquivalent,
    expiration_time: Math.ceil(Date.now() / hourMs) * (hourMs / 1_000),
  };
  return { current_rate: rate, next_rate: rate, timestamp: view.now() };
}

/** The newest record file, and no other. */
export const getBlocks = (view: MirrorView): object => ({
  blocks: [{ timestamp: { from: view.now(), to: view.now() } }],
  links: { next: null },
});

/** 10 a page when no limit is given, 25 at most. */
export function getNodes(view: MirrorView, _parts: string[], query: URLSearchParams): object {
  const { chain } = view;
  const limit = Math.min(query.has("limit") ? limitOf(query) : nodesDefault, nodesMax);
  const wanted = numberFilter(query, "node.id");
  const order = orderOf(query, "asc");
  const ids = chain.nodes.map((_, id) => id).filter(wanted);
  if (order === "desc") ids.reverse();
  const page = ids.slice(0, limit);
  const after = `node.id=${order === "asc" ? "gt" : "lt"}:${page.at(-1)}`;
  const next = ids.length > limit ? `/api/v1/network/nodes?limit=${limit}&order=${order}&${after}` : null;
  return { nodes: page.map((id) => nodeJson(view, id)), links: { next } };
}

/** What real nodes also say and there is not here: keys, certificates, stakes. */
const nodeJson = ({ chain }: MirrorView, id: number) => ({
  description: "local-hedera",
  file_id: "0.0.102",
  memo: entityText(chain.nodes[id]!),
  node_account_id: entityText(chain.nodes[id]!),
  node_cert_hash: "0x",
  node_id: id,
  public_key: "0x",
  service_endpoints: [{ domain_name: "", ip_address_v4: "127.0.0.1", port: chain.nodePorts[id] }],
  timestamp: { from: "0.000000000", to: null },
});

const nodesDefault = 10;
const nodesMax = 25;
const hourMs = 3_600_000;
