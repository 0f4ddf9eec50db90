import { zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requireProof } from "../../marketplace/accounts/wallet-proof.ts";
import { EvmChains } from "../../marketplace/connectors/evm.ts";
import { type HttpServer, startHttpServer } from "../support/http-server.ts";

const network = "eip155:31337";
let node: HttpServer;
/** What the node answers every call with, beside its id. */
let answer: object;

beforeAll(async () => {
  node = await startHttpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id } = JSON.parse(body);
    response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
});

afterAll(() => node.stop());

const prove = (signature: string) => {
  const chains = { hedera: undefined, evm: new EvmChains({ [network]: node.url }) };
  return requireProof(chains, { network, address: zeroAddress }, "message", signature);
};

const ofContract = `0x${"12".repeat(65)}`;

test.each([
  [-32603, "Internal error"],
  [-32002, "resource unavailable"],
  [-32000, "header not found"],
  [-32000, "missing trie node 12ab (path ) <nil>"],
  [-32005, "limit exceeded"],
  [-32016, "over rate limit"],
])("a node's own error (%i %s) is no answer of the wallet's contract", async (code, message) => {
  answer = { error: { code, message } };
  await expect(prove(ofContract)).rejects.toMatchObject({ code: "unavailable" });
});

test.each([
  [3, "execution reverted"],
  [-32000, "execution reverted: SignatureValidator#recoverSigner: invalid signature length"],
  [-32000, "Execution reverted"],
  [-32015, "VM execution error."],
  [-32603, "VM Exception while processing transaction: reverted with an unrecognized custom error"],
])("a revert (%i %s) is the contract's refusal", async (code, message) => {
  answer = { error: { code, message, data: "0x" } };
  await expect(prove(ofContract)).rejects.toMatchObject({ code: "invalid_value" });
});

test("a contract that says no refuses, and one that says yes accepts", async () => {
  answer = { result: "0x00" };
  await expect(prove(ofContract)).rejects.toMatchObject({ code: "invalid_value" });
  answer = { result: "0x01" };
  await expect(prove(ofContract)).resolves.toBeUndefined();
});
