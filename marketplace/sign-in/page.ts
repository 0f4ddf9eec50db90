import { randomBytes } from "node:crypto";

/** The page to sign in on, and the Content-Security-Policy it is served with: nothing runs on it but its own script. */
export function signInPage(ways: { email: boolean; oidc: string | null }): { html: string; policy: string } {
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Sign in</title>
<style nonce="${nonce}">
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 12vh auto; padding: 0 1rem; }
  input, button { font: inherit; padding: .5rem .75rem; width: 100%; box-sizing: border-box; margin: .25rem 0; }
  [hidden] { display: none; }
</style>
<h1>Sign in</h1>
<form id="confirm" hidden><button>Sign in with this link</button></form>
<div id="ways">
  ${ways.email ? emailForm : ""}
  ${ways.oidc ? `<form id="oidc"><button>Sign in with ${escaped(ways.oidc)}</button></form>` : ""}
  ${ways.email || ways.oidc ? "" : "<p>Signing in is not set up here.</p>"}
</div>
<p id="told" role="status"></p>
<script nonce="${nonce}">${script}</script>
</html>
`;
  return { html, policy };
}

const emailForm = `<form id="email">
    <label>E-mail address <input name="email" type="email" autocomplete="email" required></label>
    <button>Send me a link</button>
  </form>`;

/** A link is opened by a click and not by loading the page, so that no mail scanner uses it up. */
const script = `
  const token = new URLSearchParams(location.search).get("token");
  const told = document.getElementById("told");
  document.getElementById("confirm").hidden = !token;
  document.getElementById("ways").hidden = Boolean(token);
  async function post(path, body) {
    const headers = { "content-type": "application/json" };
    const response = await window.fetch("/api/account/sign-in/" + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) told.textContent = answer.error;
    return response.ok && answer;
  }
  function on(id, act) {
    document.getElementById(id)?.addEventListener("submit", (event) => {
      event.preventDefault();
      act(event.target).catch(() => { told.textContent = "The service does not answer; try again."; });
    });
  }
  on("confirm", async () => { if (await post("email/confirm", { token })) location.replace("/api/account"); });
  on("oidc", async () => { const answer = await post("oidc", {}); if (answer) location.assign(answer.url); });
  on("email", async (form) => {
    const answer = await post("email", { email: form.email.value });
    if (!answer) return;
    told.textContent = answer.link ? "There is no mail server here; this is the link: " : "Look at your mail: " + answer.sent_to;
    if (!answer.link) return;
    const link = document.createElement("a");
    link.href = answer.link;
    link.textContent = "sign in";
    told.append(link);
  });
`;

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
