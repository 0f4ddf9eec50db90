import { z } from "zod";

/** How a wallet and its signature are sent. */
export const walletBody = z.strictObject({
  network: z.string().describe("CAIP-2, such as `hedera:mainnet` or `eip155:8453`."),
  address: z.string().describe("An account id on Hedera, an address on an EVM chain."),
});

export const signature = z
  .string()
  .max(8_192)
  .describe("Of the challenge's message; hexadecimal, or base64 on Hedera.");

export const exampleWallet = { network: "eip155:8453", address: `0x${"5a".repeat(20)}` };
export const exampleSignature = `0x${"3c".repeat(65)}`;
