import { type Authorization, authorizationOf, typedDataOf } from "../../../../client/payments/eip3009.ts";
import type { Requirements } from "../../../../client/payments/quote.ts";
import { accountOf, type Provider } from "../wallet/providers.ts";
import type { Signed } from "./sign.ts";

/** Has the wallet sign an EIP-3009 authorization, which moves nothing by itself: exactly this amount, to this creator, once. */
export async function signEvm(provider: Provider, accepted: Requirements, at: Date): Promise<Signed> {
  await accountOf(provider);
  await useChain(provider, accepted);
  // Some wallets have another account on another chain.
  const from = await accountOf(provider);
  const authorization = authorizationOf(accepted, from, at);
  return {
    payload: { signature: await signAuthorization(provider, accepted, authorization), authorization },
    asked: { network: accepted.network, payer: from, nonce: authorization.nonce },
    endsAt: Number(authorization.validBefore) * 1_000,
    signer: from,
  };
}

export function signAuthorization(
  provider: Provider,
  accepted: Requirements,
  authorization: Authorization,
): Promise<unknown> {
  const { types, primaryType, domain } = typedDataOf(accepted, authorization);
  // Wallets are given JSON, which has no bigints, and the types of the domain too.
  const typedData = { types: { EIP712Domain: domainTypes, ...types }, primaryType, domain, message: authorization };
  return provider.request({
    method: "eth_signTypedData_v4",
    params: [authorization.from, JSON.stringify(typedData)],
  });
}

/** Wallets sign for the chain they are on only. */
export async function useChain(provider: Provider, { network }: Pick<Requirements, "network">): Promise<void> {
  const chainId = Number(network.split(":")[1]);
  const hex = `0x${chainId.toString(16)}`;
  if (Number(await provider.request({ method: "eth_chainId" })) === chainId) return;
  await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: hex }] });
}

const domainTypes = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
];
