import { ask, takesPasskeys, wordsFor } from "./passkey/ask.ts";

/** Signing in with a passkey: by the button, or by choosing one where the e-mail address is typed. */
const way = document.getElementById("passkey-way");
const button = document.getElementById("passkey");
const said = document.getElementById("passkey-said");
let waiting: AbortController | undefined;

if (way && button && said && takesPasskeys()) {
  way.hidden = false;
  button.addEventListener("click", () => enter("optional"));
  const offers = await PublicKeyCredential.isConditionalMediationAvailable?.();
  // Who has pressed the button meanwhile is being asked already.
  if (offers && !waiting) await enter("conditional");
}

/** A browser answers one question at a time: a new one takes the one before back. */
async function enter(mediation: CredentialMediationRequirement): Promise<void> {
  waiting?.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  try {
    const options = (await ask("/api/account/sign-in/passkey/challenge")) as PublicKeyCredentialRequestOptionsJSON;
    if (signal.aborted) return;
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const credential = (await navigator.credentials.get({ publicKey, mediation, signal })) as PublicKeyCredential;
    await ask("/api/account/sign-in/passkey", credential.toJSON());
    location.assign(way?.dataset.next ?? "/");
  } catch (error) {
    // The visitor did not ask for what waits beside the form.
    const isUnasked = mediation === "conditional" && error instanceof DOMException;
    if (said && !signal.aborted && !isUnasked) said.textContent = wordsFor(error);
  }
}
