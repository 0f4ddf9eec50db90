import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { siteShares } from "../../shared/client-address.ts";
import { limitConnections } from "../../shared/connection-limits.ts";

class OpenSocket extends EventEmitter {
  destroyed = false;
  readonly remoteAddress: string;
  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }
  destroy() {
    this.destroyed = true;
    queueMicrotask(() => this.emit("close"));
  }
}

function limited(perAddress: number, isIdle: () => boolean) {
  const server = new EventEmitter();
  limitConnections(server as Server, perAddress, { isProxy: () => false, isIdle });
  return (address: string) => {
    const socket = new OpenSocket(address);
    server.emit("connection", socket as unknown as Socket);
    return socket;
  };
}

const open = (sockets: readonly OpenSocket[]) => sockets.filter(({ destroyed }) => !destroyed).length;

test.each([
  ["busy", false],
  ["idle", true],
])("who has a whole /48 holds no more %s connections than sixteen addresses may", (_what, isIdle) => {
  const connect = limited(2, () => isIdle);
  const ofSite = Array.from({ length: 200 }, (_, number) => connect(`2001:db8:1:${number.toString(16)}::1`));
  expect(open(ofSite)).toBe(2 * siteShares);
  expect(connect("2001:db8:2::1").destroyed).toBe(false);
  const one = [1, 2, 3].map(() => connect("192.0.2.1"));
  expect(open(one)).toBe(2);
  expect(open([connect("::ffff:192.0.2.1"), ...one])).toBe(2);
});

test("a connection that was closed makes room for its address and its site", async () => {
  const connect = limited(1, () => false);
  const first = Array.from({ length: siteShares }, (_, number) => connect(`2001:db8:1:${number}::1`));
  expect(connect("2001:db8:1:99::1").destroyed).toBe(true);
  first[0]!.destroy();
  await Promise.resolve();
  expect(connect("2001:db8:1:99::1").destroyed).toBe(false);
  expect(connect("2001:db8:1:98::1").destroyed).toBe(true);
});
