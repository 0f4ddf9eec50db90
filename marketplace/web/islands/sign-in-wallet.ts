import { accountOf, type InjectedWallet, networkOf, signText, watchWallets } from "./wallet/providers.ts";

/** Signing in with a wallet: a button for each that is there. */
const way = document.getElementById("wallet-way");
const list = document.getElementById("wallets");
const said = document.getElementById("wallet-said");

if (way && list && said) {
  const networks = (way.dataset.networks ?? "").split(" ");
  const next = way.dataset.next ?? "/";
  watchWallets((wallet) => {
    way.hidden = false;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-lg btn-block";
    button.textContent = `Sign in with ${wallet.name}`;
    button.addEventListener("click", async () => {
      button.disabled = true;
      said.textContent = `Look at ${wallet.name}: it asks for your signature, which costs nothing.`;
      try {
        await enterWith(wallet, networks);
        location.assign(next);
      } catch (error) {
        said.textContent = messageOf(error);
        button.disabled = false;
      }
    });
    list.append(button);
  });
}

/** The signature is good for any chain of the wallet; the service must read the one that is named. */
async function enterWith(wallet: InjectedWallet, networks: readonly string[]): Promise<void> {
  const address = await accountOf(wallet);
  const current = await networkOf(wallet);
  const network = networks.includes(current) ? current : networks[0];
  const challenge = await post("wallet/challenge", { network, address });
  const signature = await signText(wallet, address, String(challenge.message));
  await post("wallet", { challenge_id: challenge.challenge_id, signature });
}

async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`/api/account/sign-in/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** Wallets throw objects of their own; 4001 is a person who said no (EIP-1193). */
function messageOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === 4001) return "You refused in the wallet. Nothing happened.";
  return typeof message === "string" ? message : "The wallet did not answer.";
}
