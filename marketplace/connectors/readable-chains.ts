import { getAddress, isAddress, type PublicClient } from "viem";
import { FairSemaphore } from "../../shared/fair-semaphore.ts";
import { type Call, holderOf, type Tools } from "./connector.ts";
import { EndpointSilentError } from "./endpoint.ts";
import type { Mirror } from "./hedera/mirror.ts";
import { permitFrom } from "./permit.ts";
import { ConnectorError, unfitInput } from "./result.ts";
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
    if (!isAddress(subject, { strict: false })) throw unfitInput("This is no address on that network.");
    const read = () => readers.evm(client, getAddress(subject)).catch(asFailure);
    return { network, found: await inTurn(turns.evm, call, read) };
  }
  if (hedera?.network === network) {
    if (!/^0\.0\.[1-9]\d{0,9}$/.test(subject)) throw unfitInput("This is no id on that network.");
    const read = () => readers.hedera(hedera.mirror, subject).catch(asFailure);
    return { network, found: await inTurn(turns.hedera, call, read) };
  }
  const known = [...(hedera ? [hedera.network] : []), ...evm.networks];
  throw unfitInput(`The network must be one of ${known.join(", ") || "none"}.`);
}

/**
 * Runs that read at a time: an account's slow or large ones leave some to others. On Hedera each takes three of the mirror's connections
 * at most, and all leave some to runs that write; on EVM chains each reads up to 24 answers at once, which are decoded in turn.
 */
const turns = {
  hedera: new FairSemaphore({ total: 16, waitMs: 30_000, part: 2 }),
  evm: new FairSemaphore({ total: 24, waitMs: 30_000, part: 2 }),
};

async function inTurn<T>(
  semaphore: FairSemaphore,
  { agent, signal }: Call<unknown>,
  read: () => Promise<T>,
): Promise<T> {
  const release = await permitFrom(semaphore, holderOf(agent), signal);
  return read().finally(release);
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
