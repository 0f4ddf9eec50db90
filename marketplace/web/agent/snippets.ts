import type { LiteralLanguage } from "../../../shared/page/literals.ts";
import type { AgentDetail } from "../../agents/detail.ts";
import { dollarAmount } from "../../answers/amounts.ts";
import { maxTimeoutSeconds } from "../../time-limits.ts";
import { clientPackagePath } from "../client-package.ts";

/** A program that runs an agent: the code around its input. */
export interface Snippet {
  readonly title: string;
  readonly language: LiteralLanguage;
  readonly before: string;
  /** What the lines of the input begin with. */
  readonly indent: string;
  readonly after: string;
}

/** What a snippet is about. */
export interface Called {
  readonly origin: string;
  readonly detail: Pick<AgentDetail, "agent" | "price_credits" | "per_call">;
}

interface KeyCalled {
  readonly origin: string;
  readonly detail: Pick<AgentDetail, "agent" | "price_credits">;
}

/** With an API key, which is read from the environment. */
export function keySnippets({ origin, detail: { agent, price_credits: price } }: KeyCalled): readonly Snippet[] {
  return [
    {
      title: "curl",
      language: "bash",
      before: `curl -s ${origin}/api/v1/run \\
  -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: $(date +%s)-$$" \\
  -d '{
    "agent": "${agent}",
    "max_credits": ${price},
    "input": `,
      indent: "    ",
      after: `
  }'`,
    },
    {
      title: "TypeScript",
      language: "typescript",
      before: `// npm install ${origin}${clientPackagePath}
import { AgentMarketplace } from "${clientPackage}";

const market = new AgentMarketplace({ key: process.env.KEY, baseUrl: "${origin}" });
const run = await market.run({ // a lost answer is asked for again, and charged once
  agent: "${agent}",
  max_credits: ${price},
  input: `,
      indent: "  ",
      after: `,
});
console.log(run.output);`,
    },
    {
      title: "Command line",
      language: "bash",
      before: `export AGENT_MARKETPLACE_URL=${origin} AGENT_MARKETPLACE_KEY=$KEY
npx -y ${origin}${clientPackagePath} run ${agent} --max-credits ${price} --input '`,
      indent: "",
      after: "'",
    },
    keyPythonSnippet({ origin, detail: { agent, price_credits: price } }),
  ];
}

function keyPythonSnippet({ origin, detail: { agent, price_credits: price } }: KeyCalled): Snippet {
  return {
    title: "Python",
    language: "python",
    before: `import json, os, urllib.request

request = urllib.request.Request(
    "${origin}/api/v1/run",
    headers={"Authorization": f"Bearer {os.environ['KEY']}", "Content-Type": "application/json"},
    data=json.dumps({
        "agent": "${agent}",
        "max_credits": ${price},
        "input": `,
    indent: "        ",
    after: `,
    }).encode(),
)
run = json.load(urllib.request.urlopen(request, timeout=${maxTimeoutSeconds}))
print(run["output"] if run["success"] else run["error"])`,
  };
}

/** Without an account: programs that pay; those of a free agent run it. */
export function perCallSnippets({ origin, detail }: Called): readonly Snippet[] {
  const { per_call: perCall } = detail;
  if (!perCall) return [];
  const url = `${origin}/api/agent/${detail.agent}`;
  const isFree = detail.price_credits === 0;
  const evm = perCall.networks.find((network) => network.startsWith("eip155:"));
  const hedera = perCall.networks.find((network) => network.startsWith("hedera:"));
  return [
    ...(evm && !isFree ? [evmSnippet({ origin, detail })] : []),
    ...(hedera && !isFree ? [hederaSnippet({ origin, detail })] : []),
    ...(isFree
      ? [freeCurlSnippet(url), freePythonSnippet(url)]
      : [
          payingCurlSnippet({ origin, detail }, url, evm ? "evm" : "hedera"),
          payingPythonSnippet({ origin, detail }, evm ? "evm" : "hedera"),
        ]),
    ...(evm && !isFree ? [stockPythonSnippet(url, evm)] : []),
  ];
}

function freeCurlSnippet(url: string): Snippet {
  return {
    title: "curl",
    language: "bash",
    before: `curl -s ${url} \\
  -H "Content-Type: application/json" \\
  -d '`,
    indent: "  ",
    after: "'",
  };
}

/** curl up to the price, which is as far as it can go; then the command that signs it and fetches the result. */
function payingCurlSnippet({ origin, detail }: Called, url: string, chain: keyof typeof signers): Snippet {
  const { library, variables } = signers[chain];
  const keys = Object.entries(variables).map(([name, from]) => `${name}=$${from}`);
  return {
    title: "curl",
    language: "bash",
    before: "INPUT='",
    indent: "",
    after: `'
curl -si ${url} -H "Content-Type: application/json" -d "$INPUT" # 402: the price; no charge
# curl cannot sign it. This pays and prints the result. Once: npm install ${origin}${clientPackagePath} ${library}
${keys.join(" ")} \\
  npx ${clientPackage} pay ${detail.agent} --url ${origin} --max-usd ${maxUsd(detail)} --input "$INPUT"`,
  };
}

/** What signs on each family of chains, and where the command line reads its key. */
const signers = {
  evm: { library: "viem", variables: { AGENT_MARKETPLACE_EVM_KEY: "PRIVATE_KEY" } },
  hedera: {
    library: "@hashgraph/sdk",
    variables: { AGENT_MARKETPLACE_HEDERA_ACCOUNT: "ACCOUNT_ID", AGENT_MARKETPLACE_HEDERA_KEY: "PRIVATE_KEY" },
  },
} as const;

const maxUsd = ({ price_credits: price }: Pick<Called["detail"], "price_credits">) => dollarAmount(price);

function evmSnippet({ origin, detail }: Called): Snippet {
  return {
    title: "TypeScript",
    language: "typescript",
    before: `// npm install ${origin}${clientPackagePath} viem
import { AgentMarketplace } from "${clientPackage}";
import { privateKeyToAccount } from "viem/accounts";

const evm = privateKeyToAccount(process.env.PRIVATE_KEY as \`0x\${string}\`);
${paying(origin, detail, "evm")}`,
    indent: "  ",
    after: paid,
  };
}

function hederaSnippet({ origin, detail }: Called): Snippet {
  return {
    title: "TypeScript, Hedera",
    language: "typescript",
    before: `// npm install ${origin}${clientPackagePath} @hashgraph/sdk
import { PrivateKey } from "@hashgraph/sdk";
import { AgentMarketplace } from "${clientPackage}";

const key = PrivateKey.fromStringDer(process.env.PRIVATE_KEY as string);
const hedera = { accountId: process.env.ACCOUNT_ID as string, key };
${paying(origin, detail, "hedera")}`,
    indent: "  ",
    after: paid,
  };
}

/** A program that pays with the wallet of that name, up to its input. */
function paying(origin: string, detail: Called["detail"], wallet: string): string {
  return `const market = new AgentMarketplace({ baseUrl: "${origin}", wallets: { ${wallet} } });
const run = await market.pay.run({
  agent: "${detail.agent}",
  max_usd: "${maxUsd(detail)}", // nothing dearer is signed
  input: `;
}

const paid = `,
});
console.log(run.output, run.payment?.transaction);`;

const clientPackage = "agent-marketplace-client";

/** The command line signs, pays and asks again where the answer is lost. */
function payingPythonSnippet({ origin, detail }: Called, chain: keyof typeof signers): Snippet {
  const { library, variables } = signers[chain];
  const keys = Object.entries(variables).map(([name, from]) => `"${name}": os.environ["${from}"]`);
  return {
    title: "Python",
    language: "python",
    before: `# It signs with Node. Once: npm install ${origin}${clientPackagePath} ${library}
import json, os, subprocess

paying = ["npx", "agent-marketplace-client", "pay", "${detail.agent}", "--url", "${origin}"]
run = subprocess.run(
    paying + ["--max-usd", "${maxUsd(detail)}", "--json", "--input", json.dumps(`,
    indent: "    ",
    after: `)],
    env={**os.environ, ${keys.join(", ")}},
    stdout=subprocess.PIPE,
    check=True,
)
print(json.loads(run.stdout)["output"])`,
  };
}

/** The stock client is not among what tests can run: they read this program only, and it says so. */
function stockPythonSnippet(url: string, network: string): Snippet {
  return {
    title: "Python, x402",
    language: "python",
    before: `# pip install "x402[httpx,evm]"; read by our tests, and not run
import asyncio, os

from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import ExactEvmScheme

async def main():
    signer = EthAccountSigner(Account.from_key(os.environ["PRIVATE_KEY"]))
    client = x402Client()
    client.register("${network}", ExactEvmScheme(signer=signer))
    async with x402HttpxClient(client, timeout=${maxTimeoutSeconds}) as http:
        response = await http.post("${url}", json=`,
    indent: "        ",
    after: `)
        print(response.json())

asyncio.run(main())`,
  };
}

function freePythonSnippet(url: string): Snippet {
  return {
    title: "Python",
    language: "python",
    before: `import json, urllib.request

request = urllib.request.Request(
    "${url}",
    headers={"Content-Type": "application/json"},
    data=json.dumps(`,
    indent: "    ",
    after: `).encode(),
)
print(json.load(urllib.request.urlopen(request, timeout=${maxTimeoutSeconds}))["output"])`,
  };
}
