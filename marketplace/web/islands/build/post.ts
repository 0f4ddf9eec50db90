import { isSecretName, isTakingAway, isWritingSecret } from "./secrets.ts";

/** What the form says, for a press that leaves the page open. */
export function fieldsFor(form: HTMLFormElement, pressed: string): FormFields {
  const hasSecrets = pressed !== "save" || !isWritingSecret();
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    // Which of two conflicting states stays is said by a button only.
    if (typeof value !== "string" || name === "over") continue;
    // A secret is taken away by a press that says so, since no later save could bring it back.
    if (isTakingAway(name) ? pressed !== "try" : isSecretName(name) && !hasSecrets) continue;
    fields.append(name, value);
  }
  return { fields, hasSecrets };
}

interface FormFields {
  readonly fields: URLSearchParams;
  /** Whether the secrets that stand there are among them. */
  readonly hasSecrets: boolean;
}

/** A try of what was just saved, secrets and all. */
export function fieldsToTry(saved: URLSearchParams, revision: string): URLSearchParams {
  const fields = new URLSearchParams([...saved].filter(([name]) => !isSecretName(name) && !isTakingAway(name)));
  fields.set("do", "try");
  fields.set("revision", revision);
  return fields;
}

/** Posts as the form does without JavaScript; the browser parses the answer, so that no text becomes markup here. */
export function post(form: HTMLFormElement, fields: URLSearchParams): Promise<Posted> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("content-type", "application/x-www-form-urlencoded");
    request.setRequestHeader("accept", "text/html");
    request.responseType = "document";
    request.timeout = Number(form.dataset.waitMs);
    request.addEventListener("loadend", () => {
      const { status, response } = request;
      // After these statuses nothing is known but that the form can be posted again.
      resolve({ status, page: status === 429 || status >= 500 ? undefined : (response ?? undefined) });
    });
    request.send(fields.toString());
  });
}

export interface Posted {
  readonly status: number;
  /** Undefined where the service did not answer what was asked. */
  readonly page: Document | undefined;
}
