import { type Authorization, authorizationOf, typedDataOf } from "../../../../client/payments/eip3009.ts";
import type { Requirements } from "../../../../client/payments/quote.ts";
import { accountOf, type Provider } from "../wallet/providers.ts";
import type { Signed } from "./sign.ts";

/**
 * Has the wallet sign an EIP-3009 authorization, which moves nothing by itself: exactly this amount, to this creator, once. `again`: one
 * that it signed before.
 */
export async function signEvm(
  provider: Provider,
  accepted: Requirements,
  at: Date,
  again?: Authorization,
): Promise<Signed> {
  await accountOf(provider);
  await useChain(provider, Number(accepted.network.split(":")[1]));
  // Some wallets have another account on another chain.
  const authorization = again ?? authorizationOf(accepted, await accountOf(provider), at);
  const { from, nonce, validBefore } = authorization;
  const { types, primaryType, domain } = typedDataOf(accepted, authorization);
  // Wallets are given JSON, which has no bigints, and the types of the domain too.
  const typedData = { types: { EIP712Domain: domainTypes, ...types }, primaryType, domain, message: authorization };
  const signature = await provider.request({
    method: "eth_signTypedData_v4",
    params: [from, JSON.stringify(typedData)],
  });
  return {
    payload: { signature, authorization },
    asked: { network: accepted.network, payer: from, nonce },
    endsAt: Number(validBefore) * 1_000,
  };
}

/** Wallets sign for the chain they are on only. */
async function useChain(provider: Provider, chainId: number): Promise<void> {
  const hex = `0x${chainId.toString(16)}`;
  if (Number(await provider.request({ method: "eth_chainId" })) === chainId) return;
  await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: hex }] });
}

const domainTypes = ["string name", "string version", "uint256 chainId", "address verifyingContract"]
  .map((field) => field.split(" "))
  .map(([type, name]) => ({ name, type }));
