import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { exportAccount } from "../../../marketplace/accounts/export.ts";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { startDraft } from "../../../marketplace/drafts/start-draft.ts";
import { marketplaceEndpoints } from "../../../marketplace/endpoints.ts";
import type { Endpoint } from "../../../marketplace/http/endpoint.ts";
import { shareRun } from "../../../marketplace/runs/share-run.ts";
import { echoAgent, type TestMarketplace } from "../../support/marketplace.ts";
import { newPerson, type Person } from "./person.ts";

/** An account that has one of everything that an account can have, and whose private words are in a run. */
export interface FullAccount {
  readonly holder: Person;
  /** The path with what she has in it. Fails for one whose ids are not known: a new route is tested only with them. */
  filled(path: string): string;
  /** All that she reads of her account, but for when it was looked at. */
  read(): Promise<Record<string, string>>;
}

export const isOwn = ({ access }: Endpoint) => access === "account" || access === "session";

export async function newFullAccount(market: TestMarketplace): Promise<FullAccount> {
  const holder = await newPerson(market);
  const { context } = market;
  const { db, tools } = context;
  const { browser } = holder;
  const account = await accountByHandle(db, holder.handle);
  const slug = "ann-echo";
  const agent = await publishAgent(context, account, slug, { ...echoAgent, price_credits: 0 });
  await startDraft(context, account, "llm");
  const { id: key } = (await browser.post("/api/account/keys", { name: "ann's" })).body;
  const address = `0x${"7".repeat(40)}`;
  const wallet = { accountId: account.id, network: "eip155:84532", address, checked: true };
  await addPayoutWallet(db, wallet);
  const asked = { agent: agent.address, input: { text: "private words" } };
  const { run_id } = (await browser.post("/api/account/run", asked)).body;
  await shareRun(db, account.id, run_id, { withInput: false });
  const way = `idn_${account.id}`;
  await db.query(
    `insert into sign_in_identities (id, user_id, account_id, provider_id)
     select $1, id, $1, 'oidc' from sign_in_users where account_id = $2`,
    [way, account.id],
  );
  await tools.files.keep({
    bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    kind: "svg",
    ownerId: account.id,
    agentId: agent.agentId,
  });
  const first = async (list: string, path: string) => (await browser.get(path)).body[list][0];
  const ids: Record<string, string> = {
    keys: key,
    wallets: (await first("wallets", "/api/account/wallets")).id,
    sessions: (await first("sessions", "/api/account/sessions")).id,
    "ways-in": way,
    runs: run_id,
  };
  const others: Record<string, string> = {
    slug,
    version: "1",
    run_id,
    name: (await first("files", "/api/account/files")).name,
  };
  const filled = (path: string) =>
    path.replaceAll(/([\w-]+)\/\{(\w+)\}/g, (_whole, before: string, name: string) => {
      const id = others[name] ?? ids[before];
      if (id === undefined) throw new Error(`the ids in ${path} are not known here`);
      return `${before}/${id}`;
    });
  const read = async () => {
    const paths = marketplaceEndpoints(context)
      .filter((one) => one.method === "get" && isOwn(one) && one.path.startsWith("/api/account"))
      .filter(({ path, id }) => (!path.includes("{") || id === "getOwnRun") && id !== exported)
      .map(({ path }) => filled(path));
    const answers = paths.map(async (path) => [path, (await browser.get(path)).text.replaceAll(volatile, "")]);
    const { share } = (await browser.get(`/api/account/runs/${run_id}`)).body;
    const statusOf = async (path: string) => (await fetch(market.url + path)).status;
    const seen = await Promise.all([`/runs/shared/${share?.token}`, `/files/${others.name}`].map(statusOf));
    let kept = "";
    for await (const piece of exportAccount(db, account, null)) kept += piece;
    return {
      ...Object.fromEntries(await Promise.all(answers)),
      seen: seen.join(),
      kept: kept.replaceAll(volatile, ""),
    };
  };
  return { holder, filled, read };
}

/** Twice a minute alone, so it is read by its verb. */
const exported = "exportAccount";
const volatile = /"(made_at|seen_at)":"[^"]*"/g;
