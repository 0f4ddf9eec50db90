import { Resolver } from "node:dns/promises";

/** The addresses of a name. */
export type Resolve = (hostname: string) => Promise<ReadonlyArray<{ address: string; family: number }>>;

/**
 * Asks DNS itself. The system's own look-up would take a thread for as long as a name server likes, and has two of them
 * for the whole process: a slow name server could keep every other name from being found.
 */
export function dnsLookup({ servers }: { readonly servers?: readonly string[] } = {}): Resolve {
  const resolver = new Resolver({ timeout: 1_200, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (four.status === "rejected" && six.status === "rejected") throw four.reason;
    const found = (answer: PromiseSettledResult<string[]>) => (answer.status === "fulfilled" ? answer.value : []);
    return [
      ...found(four).map((address) => ({ address, family: 4 })),
      ...found(six).map((address) => ({ address, family: 6 })),
    ];
  };
}
