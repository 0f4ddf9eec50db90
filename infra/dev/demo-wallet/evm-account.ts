import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

/** In a file of its own, which the bundle evaluates when it is first wanted. */
export const evmAccount = (privateKey: `0x${string}`): PrivateKeyAccount => privateKeyToAccount(privateKey);
