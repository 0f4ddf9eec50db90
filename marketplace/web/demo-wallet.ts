import { readFile } from "node:fs/promises";
import type { EnvReader } from "../../shared/env.ts";
import { noStore } from "../../shared/http.ts";
import type { Endpoint } from "../http/endpoint.ts";

export const demoWalletPath = "/demo-wallet.js";

/**
 * The file of the wallet that pages get in development (infra/dev/demo-wallet). It signs whatever a page asks for and its keys are
 * in it, so a service that the public can reach, or that is not said to be in development, does not start with one.
 */
export function readDemoWallet(env: EnvReader, publicUrl: string): string | undefined {
  const file = env.optional("DEMO_WALLET_SCRIPT");
  if (file === undefined) return undefined;
  if (env.optional("NODE_ENV") !== "development") {
    return env.problem("DEMO_WALLET_SCRIPT is for development: NODE_ENV must be development", undefined);
  }
  const { hostname } = URL.canParse(publicUrl) ? new URL(publicUrl) : { hostname: "" };
  if (["localhost", "127.0.0.1", "[::1]"].includes(hostname)) return file;
  return env.problem(
    "DEMO_WALLET_SCRIPT is for development: MARKETPLACE_PUBLIC_URL must be of this machine",
    undefined,
  );
}

/** None but in development. */
export function demoWalletEndpoints({
  demoWalletScript,
}: {
  readonly demoWalletScript: string | undefined;
}): Endpoint[] {
  if (demoWalletScript === undefined) return [];
  return [
    {
      method: "get",
      path: demoWalletPath,
      id: "getDemoWallet",
      tag: "Service",
      summary: "A wallet with the local stack's keys, for its pages.",
      description: "Announces itself to pages by EIP-6963. It is served by the local stack alone.",
      access: "public",
      beforeBody: [noStore],
      answers: { 200: { content: ["text/javascript"] } },
      handler: async (_request, response) => {
        response.type("text/javascript").send(await readFile(demoWalletScript));
      },
    },
  ];
}
