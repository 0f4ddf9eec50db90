import type { Accepted } from "./quote.ts";
import type { Signed } from "./sign.ts";
import type { Provider } from "./wallets.ts";

/** Has the wallet sign an EIP-3009 authorization, which moves nothing by itself: exactly this amount, to this creator, once. */
export async function signEvm(provider: Provider, accepted: Accepted, at: Date): Promise<Signed> {
  const [from] = (await provider.request({ method: "eth_requestAccounts" })) as [string];
  const chainId = Number(accepted.network.split(":")[1]);
  await useChain(provider, chainId);
  const { name, version } = accepted.extra;
  const authorization = {
    from,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: "0",
    validBefore: String(Math.floor(at.getTime() / 1_000) + accepted.maxTimeoutSeconds),
    nonce: `0x${[...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`,
  };
  const typedData = {
    types: { EIP712Domain: domainFields, TransferWithAuthorization: authorizationFields },
    primaryType: "TransferWithAuthorization",
    domain: { name, version, chainId, verifyingContract: accepted.asset },
    message: authorization,
  };
  const signature = await provider.request({
    method: "eth_signTypedData_v4",
    params: [from, JSON.stringify(typedData)],
  });
  return {
    payload: { signature, authorization },
    asked: { network: accepted.network, payer: from, nonce: authorization.nonce },
    endsAt: Number(authorization.validBefore) * 1_000,
  };
}

/** Wallets sign for the chain they are on only. */
async function useChain(provider: Provider, chainId: number): Promise<void> {
  const hex = `0x${chainId.toString(16)}`;
  if (Number(await provider.request({ method: "eth_chainId" })) === chainId) return;
  await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: hex }] });
}

const field = (name: string, type: string) => ({ name, type });
const domainFields = [
  field("name", "string"),
  field("version", "string"),
  field("chainId", "uint256"),
  field("verifyingContract", "address"),
];
const authorizationFields = [
  field("from", "address"),
  field("to", "address"),
  field("value", "uint256"),
  field("validAfter", "uint256"),
  field("validBefore", "uint256"),
  field("nonce", "bytes32"),
];
