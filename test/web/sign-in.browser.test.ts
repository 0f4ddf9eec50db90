import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { freePort } from "../../infra/free-port.ts";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { nameOperator } from "../../marketplace/admin/operators.ts";
import { Browser } from "../support/browser.ts";
import { afterFrames, open, visitEverywhere } from "./browser.ts";
import { type Site, signIn, startSite, test } from "./site.ts";

test("the page to sign in on shows without a fault at every width, in both themes", () =>
  visitEverywhere(named, "/sign-in?next=/explore"));

test("the page of a mailed link that opens nothing shows without a fault at every width, in both themes", ({ site }) =>
  visitEverywhere(site, "/sign-in?token=a", { name: "sign-in-link", status: 401 }));

/** As long as one may be, without a place to break it. */
const longAddress = () => `${Math.random().toString(36).slice(2)}${"m".repeat(40)}@example.com`;

test("so does that of a link which signs another in than who is signed in, and the page that says where a link goes", async ({
  site,
}) => {
  await visitEverywhere(site, "/", {
    name: "sign-in-link-of-another",
    prepare: async (page) => {
      await signIn(site, page);
      const asked = await new Browser(site.url).post("/api/account/sign-in/email", { email: longAddress() });
      await page.goto(asked.body.link);
      expect(await page.getByText("This browser is signed in as").isVisible()).toBe(true);
    },
  });
  await visitEverywhere(site, "/sign-in", {
    name: "sign-in-link-sent",
    prepare: async (page) => {
      await page.getByLabel("E-mail").fill(longAddress());
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "open this link" }).waitFor();
    },
  });
});

test("signing in by e-mail needs a keyboard and nothing else, not even JavaScript", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/sign-in?next=/there", { javaScriptEnabled: false });
  await page.getByLabel("E-mail").focus();
  await page.keyboard.type(`${Math.random().toString(36).slice(2)}@example.com`);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "open this link" }).press("Enter");
  await page.getByRole("button", { name: "Sign in" }).press("Enter");
  await page.waitForURL(`${site.url}/there`);
  expect(await page.getByRole("button", { name: /^Account/ }).isVisible()).toBe(true);
  expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
  await close();
});

/** At a name, which passkeys belong to, and with a chain for wallets. */
let named: Site;
test.beforeAll(async ({ chromium }) => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const site = await startSite(chromium, {
    EVM_RPC_URLS: "eip155:84532=http://127.0.0.1:1",
    MARKETPLACE_PORT: String(port),
    MARKETPLACE_PUBLIC_URL: url,
    SMTP_URL: "",
  });
  named = { ...site, url };
});
test.afterAll(() => named.stop());

test("a passkey is added, signs in where the device says who holds it, opens the operators' pages to one, and is removed, by keyboard alone", async () => {
  const { page, context, complaints, close } = await open(named, "/");
  const device = await context.newCDPSession(page);
  await device.send("WebAuthn.enable");
  const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const willing = (enabled: boolean) =>
    device.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
  const handle = `person-${Math.random().toString(36).slice(2, 8)}`;
  await signIn(named, page, handle);
  await page.goto(`${named.url}/settings/account`);
  await page.getByRole("button", { name: "Add passkey" }).press("Enter");
  await page.getByText("The passkey is added").waitFor();
  await page.getByText("Passkey “Chrome on Linux”").waitFor();
  await page.getByRole("button", { name: "Add passkey" }).press("Enter");
  await page.getByText("A passkey for this account is there already.").waitFor();

  await context.clearCookies();
  await willing(false);
  await page.goto(`${named.url}/sign-in?next=/settings/account`);
  await page.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
  await device.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await willing(true);
  await page.getByRole("button", { name: "Sign in with a passkey" }).press("Enter");
  await page.getByText("No passkey was used. Nothing happened.").waitFor();
  await device.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  await page.getByRole("button", { name: "Sign in with a passkey" }).press("Enter");
  await page.waitForURL(`${named.url}/settings/account`);
  await page.getByText("used", { exact: false }).first().waitFor();

  const { db, sealer } = named.context;
  await nameOperator({ db, sealer }, await accountByHandle(db, handle));
  await page.goto(`${named.url}/admin/reports`);
  await device.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await page.getByRole("button", { name: "Confirm with a passkey" }).press("Enter");
  await page.getByText("No passkey was used. Nothing happened.").waitFor();
  await device.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  await page.getByRole("button", { name: "Confirm with a passkey" }).press("Enter");
  await page.waitForURL(`${named.url}/admin/reports`);
  await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();

  await page.goto(`${named.url}/settings/account`);
  await page.getByText("Rename", { exact: true }).first().press("Enter");
  await page.getByLabel("New name of Passkey “Chrome on Linux”").press("Control+a");
  await page.keyboard.type("Blue key");
  await page.keyboard.press("Enter");
  await page.getByText("The passkey has its new name here.").waitFor();
  await page.getByRole("button", { name: "Remove Passkey “Blue key”" }).press("Enter");
  await page.getByText("The passkey cannot be used to sign in any more.").waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test("a passkey that was asked for by the button is not taken back by the question beside the form", async () => {
  const { page, close } = await open(named, "/");
  await page.addInitScript(() => {
    const asked: CredentialRequestOptions[] = [];
    const offered = new Promise<boolean>((resolve) => Reflect.set(globalThis, "offer", () => resolve(true)));
    PublicKeyCredential.isConditionalMediationAvailable = () => offered;
    navigator.credentials.get = (options = {}) => {
      asked.push(options);
      return new Promise(() => {});
    };
    Reflect.set(globalThis, "asked", () => asked.map(({ mediation, signal }) => [mediation, signal?.aborted]));
  });
  await page.goto(`${named.url}/sign-in`);
  const asked = () => page.evaluate(() => Reflect.get(globalThis, "asked")());
  await page.getByRole("button", { name: "Sign in with a passkey" }).press("Enter");
  await expect.poll(asked).toEqual([["optional", false]]);
  await page.evaluate(() => Reflect.get(globalThis, "offer")());
  await afterFrames(page);
  expect(await asked()).toEqual([["optional", false]]);
  await close();
});

test("a wallet in the browser signs in, and one whose holder refuses does not", async () => {
  const site = named;
  const account = privateKeyToAccount(generatePrivateKey());
  const { page, context, complaints, close } = await open(site, "/");
  let willing = false;
  await context.exposeFunction("signAsWallet", async (hex: `0x${string}`) => {
    return willing ? account.signMessage({ message: { raw: hex } }) : undefined;
  });
  await context.addInitScript(announceWallet, account.address);
  await page.goto(`${site.url}/sign-in?next=/there`);
  const button = page.getByRole("button", { name: "Sign in with Test wallet" });
  await button.press("Enter");
  await expect.poll(() => page.locator("#wallet-said").textContent()).toContain("You declined in the wallet");
  willing = true;
  await button.press("Enter");
  await page.waitForURL(`${site.url}/there`);
  expect(await page.getByRole("button", { name: `Account: ${account.address}` }).isVisible()).toBe(true);
  expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
  await close();
});

/** Runs in the page: a wallet that announces itself by EIP-6963 and asks the test to sign. */
function announceWallet(address: string): void {
  const { signAsWallet } = globalThis as unknown as { signAsWallet(hex: string): Promise<string | undefined> };
  const answers: Record<string, (params: readonly string[]) => unknown> = {
    eth_requestAccounts: () => [address],
    eth_chainId: () => "0x1",
    personal_sign: async ([hex = ""]) => {
      const signature = await signAsWallet(hex);
      if (signature === undefined) throw { code: 4001, message: "User rejected the request." };
      return signature;
    },
  };
  const request = async ({ method, params = [] }: { method: string; params?: readonly string[] }) =>
    answers[method]?.(params);
  const detail = { info: { uuid: "test", name: "Test wallet", icon: "", rdns: "test" }, provider: { request } };
  const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  addEventListener("eip6963:requestProvider", announce);
  announce();
}
