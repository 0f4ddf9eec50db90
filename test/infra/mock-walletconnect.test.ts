import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { on, once } from "node:events";
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

test("it pings, and brings again what a client whose connection broke had not acknowledged, once", async () => {
  const lively = await startMockRelay({ pingEachMs: 50 });
  const open = async (keys: { publicKey: KeyObject; privateKey: KeyObject }) => {
    const auth = tokenOf(keys.publicKey, keys.privateKey);
    const socket = new WebSocket(`${lively.url}/?${new URLSearchParams({ auth, projectId: "p" })}`);
    const heard = on(socket, "message");
    await once(socket, "open");
    const next = async (isIt: (said: { id: number; method?: string }) => boolean) => {
      for (;;) {
        const said = JSON.parse(String((await heard.next()).value[0]));
        if (isIt(said)) return said;
      }
    };
    return Object.assign(socket, {
      answer: () => next(({ id }) => id === 1),
      pushed: () => next(({ method }) => method === "irn_subscription"),
    });
  };
  const ask = (socket: WebSocket, method: string, params: object) =>
    socket.send(JSON.stringify({ id: 1, jsonrpc: "2.0", method, params }));
  try {
    const [wallet, page] = await Promise.all([open(own), open(other)]);
    await once(wallet, "ping");
    ask(wallet, "irn_subscribe", { topic: "t" });
    await wallet.answer();
    ask(page, "irn_publish", { topic: "t", message: "sealed", ttl: 60 });
    expect((await wallet.pushed()).params.data.message).toBe("sealed");
    wallet.terminate();

    const back = await open(own);
    ask(back, "irn_subscribe", { topic: "t" });
    await back.answer();
    const again = await back.pushed();
    expect(again.params.data.message).toBe("sealed");
    back.send(JSON.stringify({ id: again.id, jsonrpc: "2.0", result: true }));
    ask(back, "irn_fetchMessages", { topic: "t" });
    expect((await back.answer()).result.messages).toEqual([]);
  } finally {
    await lively.stop();
  }
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
