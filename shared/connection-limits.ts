import type { Server } from "node:http";
import type { Socket } from "node:net";
import { clientOf, siteOf, siteShares } from "./client-address.ts";

/**
 * Keeps one address from taking all connections, and a site of IPv6 with all of its addresses from taking more than sixteen may. At its limit of connections the one of an address that has been idle longest
 * is closed for the new one, so that an address that floods loses its own; while all of them are being answered, the new one is
 * closed. No connections are counted of addresses that `isProxy`: all callers come through them. Returns what is to be called
 * with the connection of each request that is over.
 */
export function limitConnections(
  server: Server,
  perAddress: number,
  { isProxy, isIdle }: { isProxy: (address: string) => boolean; isIdle: (socket: Socket) => boolean },
): (socket: Socket) => void {
  const byHolder = new Map<string, Set<Socket>>();
  const holders = new WeakMap<Socket, Holders>();
  const leave = (socket: Socket) => {
    for (const [holder] of holders.get(socket) ?? []) {
      const sockets = byHolder.get(holder);
      if (sockets?.delete(socket) && sockets.size === 0) byHolder.delete(holder);
    }
  };
  /** One that is closed for it leaves its places at once, not when its end is told. */
  const makesRoom = ([holder, shares]: Holders[number]): boolean => {
    const sockets = byHolder.get(holder);
    if (sockets === undefined || sockets.size < shares * perAddress) return true;
    const idlest = firstOf(sockets, perAddress, isIdle);
    if (!idlest) return false;
    leave(idlest);
    idlest.destroy();
    return true;
  };

  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isProxy(address)) return;
    const own = holdersOf(address);
    if (!own.every(makesRoom)) return void socket.destroy();
    holders.set(socket, own);
    for (const [holder] of own) byHolder.set(holder, (byHolder.get(holder) ?? new Set()).add(socket));
    socket.once("close", () => leave(socket));
  });

  return (socket) => {
    for (const [holder] of holders.get(socket) ?? []) {
      const sockets = byHolder.get(holder);
      // The order of a set is the order of use.
      if (sockets?.delete(socket)) sockets.add(socket);
    }
  };
}

/** What a connection counts for, and how many shares each of these has. */
type Holders = ReadonlyArray<readonly [name: string, shares: number]>;

function holdersOf(address: string): Holders {
  const client = clientOf(address);
  const site = siteOf(client);
  const own: Holders = [[client, 1]];
  return site === undefined ? own : [...own, [site, siteShares]];
}

/** The first that is wanted, of so many. */
function firstOf<T>(all: Iterable<T>, most: number, isWanted: (one: T) => boolean): T | undefined {
  let looked = 0;
  for (const one of all) {
    if (isWanted(one)) return one;
    looked += 1;
    if (looked === most) return undefined;
  }
  return undefined;
}
