import { getAddress, isAddress, type PublicClient } from "viem";
import type { Call, Tools } from "./connector.ts";
import { EndpointSilentError } from "./endpoint.ts";
import type { Mirror } from "./hedera/mirror.ts";
import { ConnectorError } from "./result.ts";
import { fillingOf, fillText } from "./template.ts";

/**
 * Reads something on the chain that a run names. `network` and `subject` are templates; the subject is an account or
 * token id on Hedera and an address on an EVM chain. Throws ConnectorError when it is neither, or the chain does not answer.
 */
export async function readOnChain<T>(
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
    if (!isAddress(subject, { strict: false })) throw new ConnectorError("This is no address on that network.");
    return { network, found: await readers.evm(client, getAddress(subject)).catch(asFailure) };
  }
  if (hedera?.network === network) {
    if (!/^0\.0\.[1-9]\d{0,9}$/.test(subject)) throw new ConnectorError("This is no id on that network.");
    return { network, found: await readers.hedera(hedera.mirror, subject).catch(asFailure) };
  }
  const known = [...(hedera ? [hedera.network] : []), ...evm.networks];
  throw new ConnectorError(`The network must be one of ${known.join(", ") || "none"}.`);
}

/** viem's errors quote the endpoint's URL, which can hold the operator's key for it. */
function asFailure(error: unknown): never {
  if (error instanceof ConnectorError) throw error;
  if (error instanceof EndpointSilentError) {
    throw new ConnectorError("The chain's mirror does not answer; try again shortly.", { reason: error.message });
  }
  const { name } = error as Error;
  throw new ConnectorError("The chain does not answer; try again shortly.", { errorName: name });
}
