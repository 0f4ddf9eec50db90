/** Whether this browser reads a service's options for passkeys and answers in JSON (WebAuthn level 3). */
export function takesPasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Posts to the API; throws the service's own words when it refuses. */
export async function ask(path: string, body: object = {}): Promise<unknown> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The service answered ${response.status}. Try again in a minute.`);
  return answer;
}

/** What a person can do about it; nothing for a question that was taken back. Browsers do not tell "refused" from "none there". */
export function wordsFor(error: unknown): string {
  const { name, message } = error as { name?: string; message?: string };
  if (name === "AbortError") return "";
  if (name === "NotAllowedError") return "No passkey was used. Nothing happened.";
  if (name === "InvalidStateError") return "A passkey for this account is there already.";
  return message ?? "The browser did not answer.";
}
