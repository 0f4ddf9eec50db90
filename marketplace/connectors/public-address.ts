import ipaddr from "ipaddr.js";

const urlLengthMax = 2_048;
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
  return hostProblem(url.hostname.toLowerCase().replace(/\.$/, ""), denyHosts);
}

/** Why an IP address must not be connected to. Whatever is not plain public unicast is refused. */
export function addressProblem(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return "no IP address";
  const range = ipaddr.parse(address).range();
  if (range !== "unicast") return `a ${range} address`;
  return deniedAddresses.has(address) ? "a denied address" : undefined;
}

/** WHATWG URL has already written every spelling of an IPv4 address as four decimal numbers. */
function hostProblem(host: string, denyHosts: readonly string[]): string | undefined {
  if (host.startsWith("[")) return addressProblem(host.slice(1, -1));
  if (ipaddr.IPv4.isValid(host)) return addressProblem(host);
  if (!host.includes(".")) return "a name without a dot";
  if (privateSuffixes.some((suffix) => host.endsWith(`.${suffix}`))) return "a private name";
  return denyHosts.includes(host) ? "a host of our own" : undefined;
}
