import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Writes the demo wallet and answers by which variable the marketplace is told of it; of none where its pages are not this
 * machine's own, for there it would not start with one.
 */
export async function writeDemoWallet(
  file: string,
  publicUrl: string,
  keys: DemoKeys,
): Promise<Record<string, string>> {
  if (!["localhost", "127.0.0.1", "[::1]"].includes(new URL(publicUrl).hostname)) return {};
  await writeFile(file, await buildDemoWallet(keys), { mode: 0o600 });
  return { DEMO_WALLET_SCRIPT: file };
}

/** The demo wallet's script with these keys in it (demo-wallet/wallet.ts). For the development stack, whose keys are public. */
async function buildDemoWallet(keys: DemoKeys): Promise<string> {
  const demoWallet = {
    evm: {
      address: keys.evm.address,
      privateKey: keys.evm.privateKey,
      chainId: Number(keys.evm.network.split(":")[1]),
    },
    hedera: { account: `${keys.hedera.network}:${keys.hedera.accountId}`, privateKey: keys.hedera.privateKey },
  };
  bundled ??= bundle();
  return `(() => { const demoWallet = ${JSON.stringify(demoWallet)};\n${await bundled}})();\n`;
}

/** The script without its keys: the same for every stack. */
let bundled: Promise<string> | undefined;

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./demo-wallet/wallet.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    minify: true,
  });
  return outputFiles[0]!.text;
}

export interface DemoKeys {
  readonly evm: { readonly network: string; readonly address: string; readonly privateKey: string };
  readonly hedera: { readonly network: string; readonly accountId: string; readonly privateKey: string };
}
