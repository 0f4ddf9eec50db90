import ipaddr from "ipaddr.js";

/** The origin of a request, roughly, and its program: an account's holder sees them, to tell their own requests from others'. */
export interface SeenClient {
  readonly from: string | undefined;
  readonly by: string | undefined;
}

export function seenClient({ ip, headers }: SeenRequest): SeenClient {
  return { from: networkOf(ip), by: programOf(headers["user-agent"]) };
}

interface SeenRequest {
  readonly ip?: string | undefined;
  readonly headers: { readonly "user-agent"?: string | undefined };
}

/** `203.0.113.x`, `2001:db8:1::/48`: a provider or an office, not one person. */
function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || !ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString().replace(/\d+$/, "x");
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/48`)}/48`;
}

/** `Firefox on Linux`, `python-requests/2.32.3`. */
export function programOf(userAgent: string | undefined): string | undefined {
  if (!userAgent) return undefined;
  const browser = browsers.find(([sign]) => userAgent.includes(sign))?.[1];
  if (browser && userAgent.startsWith("Mozilla/")) {
    const system = systems.find(([sign]) => userAgent.includes(sign))?.[1];
    return system ? `${browser} on ${system}` : browser;
  }
  return /^[\x21-\x7e]{1,60}/.exec(userAgent)?.[0];
}

/** In this order: most name the others too. */
const browsers = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["CriOS/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const systems = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
] as const;
