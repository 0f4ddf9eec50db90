import { entityText } from "../hapi/ids.ts";
import type { Route } from "./server.ts";

export const getExchangeRate: Route = (view) => {
  const { ledger } = view;
  const rate = {
    cent_equivalent: ledger.rate.centEquivalent,
    hbar_equivalent: ledger.rate.hbarEquivalent,
    expiration_time: Math.ceil(Date.now() / HOUR_MS) * (HOUR_MS / 1_000),
  };
  return { current_rate: rate, next_rate: rate, timestamp: view.now() };
};

export const getNodes: Route = ({ ledger }) => ({
  nodes: ledger.nodes.map((node, index) => ({
    description: "dev-ledger",
    file_id: "0.0.102",
    node_account_id: entityText(node),
    node_cert_hash: "0x",
    node_id: index,
    public_key: "0x",
    service_endpoints: [{ domain_name: "", ip_address_v4: "127.0.0.1", port: ledger.nodePorts[index] }],
  })),
  links: { next: null },
});

const HOUR_MS = 3_600_000;
