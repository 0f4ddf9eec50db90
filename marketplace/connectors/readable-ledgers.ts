import { getAddress, isAddress, type PublicClient } from "viem";
import { type Call, ConnectorFailure, type Tools } from "./connector.ts";
import { EndpointSilent } from "./endpoint.ts";
import type { Mirror } from "./hedera/mirror.ts";
import { fillingOf, fillText } from "./template.ts";

/**
 * Reads something on whichever ledger a run names. `network` and `subject` are templates; the subject is an account or
 * token id on Hedera and an address on an EVM chain. Throws ConnectorFailure when it is neither, or nobody answers.
 */
export async function readOnLedger<T>(
  call: Call<unknown>,
  { hedera, evm }: Pick<Tools, "hedera" | "evm">,
  templates: { network: string; subject: string },
  readers: {
    hedera: (mirror: Mirror, id: string) => Promise<T>;
    evm: (client: PublicClient, address: `0x${string}`) => Promise<T>;
  },
): Promise<{ network: string; found: T }> {
  const filling = fillingOf(call);
  const network = fillText(templates.network, filling).trim();
  const subject = fillText(templates.subject, filling).trim();
  const client = evm.client(network);
  if (client) {
    if (!isAddress(subject, { strict: false })) throw new ConnectorFailure("This is no address on that network.");
    return { network, found: await readers.evm(client, getAddress(subject)).catch(asFailure) };
  }
  if (hedera?.network === network) {
    if (!/^0\.0\.[1-9]\d{0,9}$/.test(subject)) throw new ConnectorFailure("This is no id on that network.");
    return { network, found: await readers.hedera(hedera.mirror, subject).catch(asFailure) };
  }
  const known = [...(hedera ? [hedera.network] : []), ...evm.networks];
  throw new ConnectorFailure(`The network must be one of ${known.join(", ") || "none"}.`);
}

/** viem's errors quote the endpoint's URL, which can hold the operator's key for it. */
function asFailure(error: unknown): never {
  if (error instanceof ConnectorFailure) throw error;
  if (error instanceof EndpointSilent) {
    throw new ConnectorFailure("The ledger's mirror does not answer; try again shortly.", { reason: error.message });
  }
  const { name } = error as Error;
  throw new ConnectorFailure("The chain does not answer; try again shortly.", { errorName: name });
}
