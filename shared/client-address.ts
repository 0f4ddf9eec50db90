import ipaddr from "ipaddr.js";

/** The caller, as limits count callers: an IPv4 address, or the /64 that one customer of IPv6 has all addresses of. */
export function clientOf(address: string): string {
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`)}/64`;
}
