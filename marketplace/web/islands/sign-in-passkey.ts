import { ask, takesPasskeys, wordsFor } from "./passkey/ask.ts";

/** Signing in with a passkey: by the button, or by choosing one where the e-mail address is typed. */
const way = document.getElementById("passkey-way");
const button = document.getElementById("passkey");
const said = document.getElementById("passkey-said");
let waiting: AbortController | undefined;

if (way && button && said && takesPasskeys()) {
  way.hidden = false;
  const offers = PublicKeyCredential.isConditionalMediationAvailable?.();
  button.addEventListener("click", async () => {
    const isOpen = await enter("optional");
    // Where nothing came of it, one can still be chosen beside the form.
    if (isOpen && (await offers)) await enter("conditional");
  });
  // A person who has pressed the button meanwhile is being asked already.
  if ((await offers) && !waiting) await enter("conditional");
}

/** A browser answers one question at a time: a new one takes the one before back. True where nothing came of this one. */
async function enter(mediation: CredentialMediationRequirement): Promise<boolean> {
  waiting?.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  try {
    const options = (await ask("/api/account/sign-in/passkey/challenge")) as PublicKeyCredentialRequestOptionsJSON;
    if (signal.aborted) return false;
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const credential = (await navigator.credentials.get({ publicKey, mediation, signal })) as PublicKeyCredential;
    await ask("/api/account/sign-in/passkey", credential.toJSON());
    location.assign(way?.dataset.next ?? "/");
    return false;
  } catch (error) {
    // The visitor did not ask for what waits beside the form.
    const isUnasked = mediation === "conditional" && error instanceof DOMException;
    if (said && !signal.aborted && !isUnasked) said.textContent = wordsFor(error);
    return !signal.aborted;
  }
}
