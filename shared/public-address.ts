import ipaddr from "ipaddr.js";

/** All of IPv6 that is handed out; outside it lie forms such as ::7f00:1 that hold an IPv4 address. */
const globalIpv6 = ipaddr.parseCIDR("2000::/3");
export const urlLengthMax = 2_048;
const privateSuffixes = [
  "local",
  "localhost",
  "internal",
  "intranet",
  "lan",
  "home",
  "corp",
  "private",
  "test",
  "invalid",
  "example",
  "onion",
  "home.arpa",
];
/** Azure's wire server answers on a public address from inside its own network. */
const deniedAddresses = new Set(["168.63.129.16"]);

/** Why a URL must not be fetched, judged by its text alone; undefined when nothing speaks against it. */
export function urlProblem(url: URL, denyHosts: readonly string[]): string | undefined {
  if (url.href.length > urlLengthMax) return "the URL is too long";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "the scheme is neither https nor http";
  if (url.username !== "" || url.password !== "") return "the URL carries credentials";
  if (!["", "80", "443"].includes(url.port)) return "the port is neither 80 nor 443";
  return hostProblem(url.hostname, denyHosts);
}

/** Why an IP address must not be connected to. All but plain public unicast is refused. */
export function addressProblem(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return "no IP address";
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== "unicast") return `a ${range} address`;
  if (parsed.kind() === "ipv6" && !parsed.match(globalIpv6)) return "an IPv6 address that is not global";
  return deniedAddresses.has(address) ? "a denied address" : undefined;
}

/**
 * Why a URL's `hostname` is not a public one, judged by its text alone. WHATWG URL has already written every spelling of
 * an IPv4 address as four decimal numbers.
 */
export function hostProblem(hostname: string, denyHosts: readonly string[] = []): string | undefined {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  if (host.startsWith("[")) return addressProblem(host.slice(1, -1));
  if (ipaddr.IPv4.isValid(host)) return addressProblem(host);
  if (!host.includes(".")) return "a name without a dot";
  if (privateSuffixes.some((suffix) => host.endsWith(`.${suffix}`))) return "a private name";
  return denyHosts.includes(host) ? "a host of our own" : undefined;
}
