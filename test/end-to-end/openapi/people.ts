import { PrivateKey } from "@hashgraph/sdk";
import { describe } from "vitest";
import { keysPerAccount } from "../../../marketplace/api-keys/create.ts";
import { passkeysMax } from "../../../marketplace/sign-in/passkeys.ts";
import { Authenticator } from "../../support/authenticator.ts";
import { Browser, newEmail, signedIn, tokenIn, withAccount } from "../../support/browser.ts";
import { newBuyer } from "../../support/evm-payments.ts";
import { type TestMarketplace, until } from "../../support/marketplace.ts";
import { callbackOf } from "../../support/sign-in-servers.ts";
import { provider, test } from "./stage.ts";

const cookieOf = ({ cookie }: Browser) => ({ as: { cookie } });

/** How many changes the account's holder has begun. */
async function changesOf({ context }: TestMarketplace, handle: string): Promise<number> {
  const { rows } = await context.db.query(
    `select coalesce(sum(c), 0)::integer as count
       from accounts a join rate_limits l on l.subject = 'changes:' || a.id, unnest(l.calls) c
      where a.handle = $1`,
    [handle],
  );
  return rows[0].count;
}

describe("a person's operations answer as documented:", () => {
  test("ways to a session", async ({ stage: { calls, unnamed, away, lone, ada } }) => {
    const { body } = await calls.expect("sendSignInLink", 202, { but: { email: newEmail() } });
    await calls.expect("confirmSignInLink", 200, { but: { token: tokenIn(body.link) } });
    await calls.expect("confirmSignInLink", 401);
    await calls.expect("startSingleSignOn", 200);
    await calls.expect("finishSingleSignOn", 401, { query: "?state=none&code=none" });
    const browser = new Browser(calls.url);
    calls.hold("finishSingleSignOn", 303, await browser.get(await callbackOf(provider, browser, newEmail())));
    await calls.expect("startSingleSignOn", 404, { at: lone });
    await calls.expect("finishSingleSignOn", 404, { at: lone, query: "?state=none&code=none" });
    const wallet = newBuyer();
    const named = { network: "eip155:84532", address: wallet.address };
    const { body: challenge } = await calls.expect("createWalletChallenge", 200, { but: named });
    await calls.expect("createWalletChallenge", 503, { at: away, but: named });
    await calls.expect("createWalletChallenge", 422, { but: { network: "eip155:1" } });
    await calls.expect("signInWithWallet", 422);
    const signature = await wallet.signMessage({ message: challenge.message });
    await calls.expect("signInWithWallet", 200, { but: { challenge_id: challenge.challenge_id, signature } });
    for (const id of ["sendSignInLink", "createPasskeyChallenge", "signInWithPasskey"])
      await calls.expect(id, 404, { at: unnamed });
    // Cookies are called otherwise where the service is at an https address.
    const there = { at: unnamed, as: { cookie: ada.browser.cookie.replaceAll("marketplace.", "__Host-marketplace.") } };
    for (const id of ["createNewPasskeyChallenge", "addPasskey", "changeEmail"]) await calls.expect(id, 404, there);
    for (const id of [
      "sendSignInLink",
      "confirmSignInLink",
      "startSingleSignOn",
      "createWalletChallenge",
      "signInWithWallet",
    ])
      await calls.expect(id, 403, { headers: { origin: "https://evil.example" } });
  });

  test("passkeys, sessions and other ways in", async ({ paid: { marketplace }, stage: { calls, rest } }) => {
    const email = newEmail();
    const browser = await signedIn(marketplace, email);
    await browser.post("/api/account", { handle: `person-${Math.random().toString(36).slice(2, 10)}` });
    await signedIn(marketplace, email);
    const mine = cookieOf(browser);
    const passkey = new Authenticator();
    await calls.expect("addPasskey", 422, mine);
    const asked = calls.note("createNewPasskeyChallenge", await browser.post("/api/account/passkeys/challenge")).body;
    const { body: added } = await calls.expect("addPasskey", 201, {
      as: { cookie: browser.cookie },
      body: passkey.create(asked),
    });
    const other = new Browser(marketplace.url);
    const question = calls.note("createPasskeyChallenge", await other.post("/api/account/sign-in/passkey/challenge"));
    await calls.expect("signInWithPasskey", 401);
    calls.note(
      "signInWithPasskey",
      await other.post("/api/account/sign-in/passkey", passkey.sign(question.body as never)),
    );
    for (const id of ["createPasskeyChallenge", "signInWithPasskey"])
      await calls.expect(id, 403, { headers: { origin: "https://evil.example" } });
    for (let n = 1; n < passkeysMax; n += 1) {
      const { body: next } = await browser.post("/api/account/passkeys/challenge");
      await browser.post("/api/account/passkeys", new Authenticator().create(next));
    }
    await calls.expect("createNewPasskeyChallenge", 409, mine);
    await calls.expect("addPasskey", 409, mine);
    const params = { id: added.id };
    await calls.expect("listSignInMethods", 200, mine);
    await calls.expect("renamePasskey", 200, { ...mine, params });
    await calls.expect("renamePasskey", 422, { ...mine, params, body: { name: "" } });
    await calls.expect("removeSignInMethod", 409, { ...mine, params: { id: "email" } });
    await calls.expect("removeSignInMethod", 200, { ...mine, params });
    for (const id of ["renamePasskey", "removeSignInMethod", "endSession"]) await calls.expect(id, 404, mine);
    const { body } = await calls.expect("listSessions", 200, mine);
    await calls.expect("endSession", 409, { ...mine, params: { id: body.sessions[0].id } });
    await calls.expect("endSession", 200, { ...mine, params: { id: body.sessions[1].id } });
    await calls.expect("endOtherSessions", 200, mine);
    await calls.expect("signOut", 200, { ...mine, body: {} });
    await rest();
  });

  test("the account", async ({ paid: { marketplace }, stage: { calls, ada } }) => {
    const browser = await signedIn(marketplace);
    const mine = cookieOf(browser);
    const handle = `person-${Math.random().toString(36).slice(2, 10)}`;
    await calls.expect("openAccount", 409, mine);
    await calls.expect("openAccount", 422, { ...mine, but: { handle: "admin" } });
    await calls.expect("openAccount", 201, { ...mine, but: { handle } });
    await calls.expect("getAccount", 200, mine);
    await calls.expect("setAccountDescription", 200, mine);
    await calls.expect("setAccountDescription", 422, { ...mine, but: { about: "x".repeat(301) } });
    await calls.expect("renameAccount", 422, { ...mine, but: { handle: "admin" } });
    await calls.expect("renameAccount", 200, { ...mine, but: { handle: `${handle}-2` } });
    await calls.expect("renameAccount", 409, { ...mine, but: { handle: `${handle}-3` } });
    await calls.expect("exportAccount", 200, mine);
    await calls.expect("previewAccountClosing", 200, mine);
    await calls.expect("changeEmail", 202, { ...mine, but: { email: newEmail() } });
    await calls.expect("changeEmail", 422, { as: { cookie: ada.browser.cookie } });
    await calls.expect("confirmEmail", 401);
    const taken = await calls.send("changeEmail", { ...mine, but: { email: "ada@example.com" } });
    await calls.expect("confirmEmail", 409, { but: { token: tokenIn(taken.body.link) } });
    const again = await calls.send("changeEmail", { ...mine, but: { email: newEmail() } });
    await calls.expect("confirmEmail", 200, { but: { token: tokenIn(again.body.link) } });
    await calls.expect("confirmEmail", 403, { headers: { origin: "https://evil.example" } });
    await calls.expect("closeAccount", 409);
    const changes = () => changesOf(marketplace, `${handle}-2`);
    const before = await changes();
    const begun = calls.begin("setAccountDescription", mine);
    // Its sender was known, and counted, while the account was open.
    await until(async () => (await changes()) > before);
    await calls.expect("closeAccount", 422, mine);
    await calls.expect("closeAccount", 200, { ...mine, but: { handle: `${handle}-2` } });
    begun.end();
    calls.hold("setAccountDescription", 409, await begun.answer);
  });

  test("keys and payout wallets", async ({ paid: { marketplace, ledger }, stage: { calls, rest } }) => {
    await rest();
    const { browser } = await withAccount(marketplace);
    const mine = cookieOf(browser);
    const { body: made } = await calls.expect("createApiKey", 201, mine);
    await calls.expect("createApiKey", 422, { ...mine, but: { rate_limit_per_minute: 0 } });
    for (let n = 1; n < keysPerAccount; n += 1) await calls.send("createApiKey", mine);
    await calls.expect("createApiKey", 409, mine);
    const params = { id: made.id };
    for (const id of ["listApiKeys", "changeApiKey", "listApiKeyCalls"])
      await calls.expect(id, 200, { ...mine, params });
    await calls.expect("changeApiKey", 422, { ...mine, params, but: { rate_limit_per_minute: 0 } });
    await calls.expect("revokeApiKey", 200, { ...mine, params });
    for (const id of ["changeApiKey", "listApiKeyCalls", "revokeApiKey"]) await calls.expect(id, 404, mine);
    const wallet = newBuyer();
    const named = { network: "eip155:84532", address: wallet.address };
    await calls.expect("addWallet", 422, { ...mine, but: { network: "eip155:1" } });
    const { body: proposed } = await calls.expect("addWallet", 201, { ...mine, but: named });
    const at = { ...mine, params: { id: proposed.id } };
    await calls.expect("checkWallet", 409, at);
    await calls.meet("proveWallet", 422, at);
    const signature = await wallet.signMessage({ message: proposed.challenge.message });
    await calls.expect("proveWallet", 200, { ...at, but: { signature } });
    for (const id of ["listWallets", "checkWallet", "removeWallet"]) await calls.expect(id, 200, at);
    for (const id of ["proveWallet", "checkWallet", "removeWallet"]) await calls.expect(id, 404, mine);
    const key = PrivateKey.generateED25519();
    const { accountId } = ledger.faucet.createAccount({ publicKey: key.publicKey.toStringRaw() });
    const { body: unable } = await calls.send("addWallet", {
      ...mine,
      but: { network: "hedera:testnet", address: accountId },
    });
    const proof = { ...mine, params: { id: unable.id }, body: { signature: signed(key, unable.challenge.message) } };
    await calls.meet("proveWallet", 422, proof);
    await calls.expect("proveWallet", 409, proof);
  });
});

const signed = (key: PrivateKey, text: string) => Buffer.from(key.sign(Buffer.from(text))).toString("hex");
