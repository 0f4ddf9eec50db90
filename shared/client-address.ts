import ipaddr from "ipaddr.js";

/**
 * The caller, as limits count callers: an IPv4 address, or the /64 that one customer of IPv6 has all addresses of. The port that some
 * proxies name with it is another one each time, and says nothing of the caller.
 */
export function clientOf(named: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(named) ?? [];
  const address = bracketed ?? dotted ?? named;
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`)}/64`;
}

/** How many times what one caller may do all callers of its site may do together. */
export const siteShares = 16;

/**
 * What is counted beside a caller of IPv6: the /48 around it, for a site is given as much, which is 65,536 callers. `subject` may say before
 * the caller what is counted. Undefined where it ends in no such caller.
 */
export function siteOf(subject: string): string | undefined {
  const [, what = "", network] = /^(.*?)([0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7})\/64$/.exec(subject) ?? [];
  if (network === undefined || !ipaddr.IPv6.isValid(network)) return undefined;
  return `${what}${ipaddr.IPv6.networkAddressFromCIDR(`${network}/48`)}/48`;
}
