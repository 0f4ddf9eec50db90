import { ask, takesPasskeys, wordsFor } from "./passkey/ask.ts";

/** Makes a passkey for the account that is signed in. */
const button = document.getElementById("add-passkey") as HTMLButtonElement | null;
const said = document.getElementById("passkey-said");

if (button && said && takesPasskeys()) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    said.textContent = "Look at your browser: it asks where to keep the passkey.";
    try {
      const options = (await ask("/api/account/passkeys/challenge")) as PublicKeyCredentialCreationOptionsJSON;
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      const credential = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
      await ask("/api/account/passkeys", credential.toJSON());
      location.assign("/settings/account?done=passkey-added");
    } catch (error) {
      said.textContent = wordsFor(error);
      button.disabled = false;
    }
  });
}
