import { describe, expect } from "vitest";
import { AddressBook } from "../../../facilitator/schemes/exact-hedera/address-book.ts";
import { Mirror } from "../../../facilitator/schemes/exact-hedera/mirror.ts";
import { startLocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { HederaNodes } from "../../../shared/hedera/nodes.ts";
import { createLog } from "../../../shared/log.ts";
import { type HttpServer, startHttpServer } from "../../support/http-server.ts";
import { type HederaSetting, hederaSchemeTest, settingOn, settled, verified } from "./setting.ts";

const test = hederaSchemeTest();

const addressOf = (setting: HederaSetting, id: string) =>
  Object.entries(setting.ledger.nodes).find(([, node]) => node === id)?.[0] as string;

describe("with one node configured of the three there are", () => {
  test("a payment for another node is refused until the mirror's list has been read, and settles then", async ({
    setting,
  }) => {
    const small = await settingOn(setting.ledger, { nodes: { [addressOf(setting, "0.0.3")]: "0.0.3" } });
    try {
      await expect(verified(small.scheme, await small.pay({ nodes: [5] }))).rejects.toThrow("invalid_node_account");
      await small.scheme.start();
      expect(await settled(small, await small.pay({ nodes: [5] }))).toMatchObject({ outcome: "settled" });
      expect(await settled(small, await small.pay({ nodes: [3] }))).toMatchObject({ outcome: "settled" });
    } finally {
      await small.stop();
    }
  });

  test("at an address where nobody is: it moves to the listed one once it has failed", async ({ setting }) => {
    const { book, nodes, stop } = await bookOf(setting, { "127.0.0.1:1": "0.0.3" }, setting.ledger.mirrorUrl);
    try {
      const receipt = () => nodes.receipt("0.0.3", "0.0.1001@1700000000.000000001");
      expect(await receipt()).toBe("silent");
      expect(nodes.allFailing).toBe(true);
      await book.refresh();
      await expect.poll(receipt).toBe("none");
      expect(nodes.allFailing).toBe(false);
      expect(nodes.ids.toSorted()).toEqual(["0.0.3", "0.0.4", "0.0.5"]);
    } finally {
      await stop();
    }
  });
});

test("of a long list every page is read", async ({ setting }) => {
  const ledger = await startLocalHedera({ nodePorts: Array.from({ length: 27 }, () => 0) });
  const { book, nodes, stop } = await bookOf(
    setting,
    { [Object.keys(ledger.nodes)[0] as string]: "0.0.3" },
    ledger.mirrorUrl,
  );
  try {
    expect(await book.start()).toEqual([]);
    expect(nodes.ids.toSorted()).toEqual(Object.values(ledger.nodes).toSorted());
  } finally {
    await stop();
    await ledger.close();
  }
});

describe("a list from the mirror", () => {
  const own = { node_account_id: "0.0.3", service_endpoints: [{ ip_address_v4: "127.0.0.1", port: 50_211 }] };
  const other = (change: object, id: unknown = "0.0.4") => ({
    nodes: [own, { node_account_id: id, service_endpoints: [{ ip_address_v4: "127.0.0.1", port: 50_211, ...change }] }],
  });

  test.for<[string, unknown, readonly string[]]>([
    ["with another node adds it", other({}), ["0.0.3", "0.0.4"]],
    [
      "with a node that has a name adds it",
      other({ ip_address_v4: "", domain_name: "node.hedera.com" }),
      ["0.0.3", "0.0.4"],
    ],
    ["with nothing in it changes nothing", { nodes: [] }, ["0.0.3"]],
    ["without a list changes nothing", {}, ["0.0.3"]],
    ["of the wrong shape changes nothing", { nodes: "0.0.4" }, ["0.0.3"]],
    ["of another network changes nothing", { nodes: [{ ...own, node_account_id: "0.0.77" }] }, ["0.0.3"]],
    ["with an entry that is none leaves it out", { nodes: [own, null, "0.0.4", 4, []] }, ["0.0.3"]],
    ["with an account in another realm leaves it out", other({}, "0.1.4"), ["0.0.3"]],
    ["with an alias for an account leaves it out", other({}, "0.0.4x"), ["0.0.3"]],
    ["with an account that is a number leaves it out", other({}, 4), ["0.0.3"]],
    ["with TLS only leaves the node out", other({ port: 50_212 }), ["0.0.3"]],
    ["with no port leaves the node out", other({ port: 0 }), ["0.0.3"]],
    ["with text for a port leaves the node out", other({ port: "50211" }), ["0.0.3"]],
    ["with no address leaves the node out", other({ ip_address_v4: "999.1.1.1" }), ["0.0.3"]],
    ["with a target of another kind leaves the node out", other({ ip_address_v4: "unix:/tmp/x" }), ["0.0.3"]],
    ["with a private name leaves the node out", other({ ip_address_v4: "", domain_name: "db.internal" }), ["0.0.3"]],
    ["that has no end changes nothing", { ...other({}), links: { next: "/api/v1/network/nodes?limit=25" } }, ["0.0.3"]],
    ["that leads elsewhere ends there", { ...other({}), links: { next: "/api/v1/accounts" } }, ["0.0.3", "0.0.4"]],
  ])("a list of nodes %s", async ([_, answer, ids], { setting }) => {
    const mirror = await startMirror(answer);
    const { book, nodes, stop } = await bookOf(setting, { [addressOf(setting, "0.0.3")]: "0.0.3" }, mirror.url);
    try {
      await book.refresh().catch(() => {});
      expect(nodes.ids).toEqual(ids);
      await expect.poll(() => nodes.receipt("0.0.3", "0.0.1001@1700000000.000000001")).toBe("none");
    } finally {
      await stop();
      mirror.stop();
    }
  });

  test("that leaves a node out takes it away only once it does not answer", async ({ setting }) => {
    const listed = ["0.0.3", "0.0.4"].map((id) => ({ ...own, node_account_id: id }));
    const mirror = await startMirror({ nodes: listed });
    const configured = {
      [addressOf(setting, "0.0.3")]: "0.0.3",
      [addressOf(setting, "0.0.4")]: "0.0.4",
      "127.0.0.1:1": "0.0.5",
    };
    const { book, nodes, stop } = await bookOf(setting, configured, mirror.url);
    try {
      await book.refresh();
      expect(nodes.ids).toEqual(["0.0.3", "0.0.4", "0.0.5"]);
      expect(await nodes.receipt("0.0.5", "0.0.1001@1700000000.000000001")).toBe("silent");
      await book.refresh();
      expect(nodes.ids).toEqual(["0.0.3", "0.0.4"]);
    } finally {
      await stop();
      mirror.stop();
    }
  });

  test("of a public network is not believed about private addresses", async ({ setting }) => {
    const mirror = await startMirror({
      nodes: [
        { ...own, service_endpoints: [] },
        { ...own, node_account_id: "0.0.4" },
        { node_account_id: "0.0.5", service_endpoints: [{ ip_address_v4: "169.254.169.254", port: 80 }] },
        { node_account_id: "0.0.6", service_endpoints: [{ ip_address_v4: "34.94.106.61", port: 50_211 }] },
      ],
    });
    const { book, nodes, stop } = await bookOf(setting, { "0.testnet.hedera.com:50211": "0.0.3" }, mirror.url);
    try {
      await book.refresh();
      expect(nodes.ids).toEqual(["0.0.3", "0.0.6"]);
    } finally {
      await stop();
      mirror.stop();
    }
  });
});

async function bookOf(setting: HederaSetting, nodesConfigured: Record<string, string>, mirrorUrl: string) {
  const mirror = new Mirror(mirrorUrl);
  const nodes = new HederaNodes(nodesConfigured, { connectMs: 500, sendMs: 1_000, receiptMs: 1_000 });
  const config = { ...setting.config, nodes: nodesConfigured, mirrorUrl };
  const book = new AddressBook(config, { mirror, nodes, log: createLog("test", "silent") });
  const stop = async () => {
    nodes.close();
    await mirror.close();
  };
  return { book, nodes, stop };
}

/** A mirror that gives one answer to every request. */
function startMirror(answer: unknown): Promise<HttpServer> {
  return startHttpServer((_request, response) => response.end(JSON.stringify(answer)));
}
