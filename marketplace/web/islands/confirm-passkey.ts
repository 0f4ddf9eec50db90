import { ask, takesPasskeys, wordsFor } from "./passkey/ask.ts";

/** An operator shows by a passkey that it is they. */
const way = document.getElementById("passkey-way");
const button = document.getElementById("passkey") as HTMLButtonElement | null;
const said = document.getElementById("passkey-said");

if (way && button && said && takesPasskeys()) {
  way.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    said.textContent = "Look at your browser: it asks for the passkey.";
    try {
      const options = (await ask("/api/operator/confirm/passkey/challenge")) as PublicKeyCredentialRequestOptionsJSON;
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
      const credential = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
      await ask("/api/operator/confirm/passkey", credential.toJSON());
      location.assign(way.dataset.next ?? "/admin");
    } catch (error) {
      said.textContent = wordsFor(error);
      button.disabled = false;
    }
  });
}
