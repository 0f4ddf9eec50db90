import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type MockRelay, startMockRelay } from "../../infra/mock-walletconnect/relay.ts";

let relay: MockRelay;
beforeAll(async () => {
  relay = await startMockRelay();
});
afterAll(() => relay.stop());

const own = generateKeyPairSync("ed25519");
const other = generateKeyPairSync("ed25519");
const now = Math.floor(Date.now() / 1_000);

test.each([
  ["no project", tokenOf(own.publicKey, own.privateKey), ""],
  ["no token", "", "p"],
  ["a token that another key signed", tokenOf(own.publicKey, other.privateKey), "p"],
  ["a token of the past", tokenOf(own.publicKey, own.privateKey, now - 1), "p"],
])("the stand-in for the relay lets nobody in who has %s", async (_what, auth, projectId) => {
  const socket = new WebSocket(`${relay.url}/?${new URLSearchParams({ auth, projectId })}`);
  const [error] = await once(socket, "error").catch((thrown: unknown) => [thrown]);
  expect(String(error)).toContain("401");
});

test("it says what it is, and knows no verb that the relay has not", async () => {
  expect(await (await fetch(relay.url.replace("ws:", "http:"))).text()).toContain("mock-walletconnect");
  const auth = tokenOf(own.publicKey, own.privateKey);
  const socket = new WebSocket(`${relay.url}/?${new URLSearchParams({ auth, projectId: "p" })}`);
  await once(socket, "open");
  socket.send(JSON.stringify({ id: 7, jsonrpc: "2.0", method: "irn_forget", params: {} }));
  const [answer] = await once(socket, "message");
  expect(JSON.parse(String(answer))).toMatchObject({ id: 7, error: { code: -32_601 } });
  socket.send("no JSON");
  expect((await once(socket, "close"))[0]).toBe(1_007);
});

/** As clients name themselves: `did:key:z` and the key in base58btc, signed by it. */
function tokenOf(publicKey: KeyObject, signer: KeyObject, exp = now + 60): string {
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const iss = `did:key:z${base58(Buffer.concat([Buffer.from("ed01", "hex"), raw]))}`;
  const signed = `${part({ alg: "EdDSA", typ: "JWT" })}.${part({ iss, iat: now - 5, exp })}`;
  return `${signed}.${sign(null, Buffer.from(signed), signer).toString("base64url")}`;
}

function base58(bytes: Buffer): string {
  const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let [text, left] = ["", BigInt(`0x${bytes.toString("hex")}`)];
  for (; left > 0n; left /= 58n) text = digits[Number(left % 58n)] + text;
  return text;
}
