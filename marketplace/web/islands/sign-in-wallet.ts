import { accountOf, networkOf, type Provider, refusalOf, signText, watchWallets } from "./wallet/providers.ts";

/** Signing in with a wallet: a button for each that is there. */
const way = document.getElementById("wallet-way");
const list = document.getElementById("wallets");
const said = document.getElementById("wallet-said");

if (way && list && said) {
  const networks = (way.dataset.networks ?? "").split(" ");
  const next = way.dataset.next ?? "/";
  watchWallets(({ name, provider }) => {
    way.hidden = false;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-lg btn-block";
    button.textContent = `Sign in with ${name}`;
    button.addEventListener("click", async () => {
      button.disabled = true;
      said.textContent = `Look at ${name}: it asks for your signature, which costs nothing.`;
      try {
        await enterWith(provider, networks);
        location.assign(next);
      } catch (error) {
        said.textContent = refusalOf(error);
        button.disabled = false;
      }
    });
    list.append(button);
  });
}

/** The signature is good for any chain of the wallet; the service must read the one that is named. */
async function enterWith(provider: Provider, networks: readonly string[]): Promise<void> {
  const address = await accountOf(provider);
  const current = await networkOf(provider);
  const network = networks.includes(current) ? current : networks[0];
  const challenge = await post("wallet/challenge", { network, address });
  const signature = await signText(provider, address, String(challenge.message));
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
