/** @jsxRuntime automatic @jsxImportSource preact */
import type { Database } from "../../../../shared/postgres.ts";
import { readClosing } from "../../../accounts/closing.ts";
import { renameAccount } from "../../../accounts/rename.ts";
import { readOperator } from "../../../admin/operators.ts";
import type { Config } from "../../../config.ts";
import { isFresh } from "../../../fresh-session.ts";
import { parse } from "../../../parse.ts";
import { askForEmail } from "../../../sign-in/email-change.ts";
import { emailRequest } from "../../../sign-in/enter.ts";
import { endOtherSessions, endSession, listSessions } from "../../../sign-in/own-sessions.ts";
import type { SignIn } from "../../../sign-in/sign-in.ts";
import { listWaysIn, removeWayIn, renamePasskey } from "../../../sign-in/ways-in.ts";
import type { Page } from "../../page.ts";
import { type AccountVisit, type ConsoleView, consolePage, done } from "../console-page.tsx";
import { type Refusal, unchanged } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { LinkSent } from "./change-email.tsx";
import { CloseCard, DataCard } from "./data-and-closing.tsx";
import { HandleCard } from "./handle-card.tsx";
import { SessionList } from "./session-list.tsx";
import { WaysIn } from "./ways-in-list.tsx";

interface Needs {
  readonly db: Database;
  readonly signIn: SignIn;
  readonly config: Pick<Config, "publicUrl">;
}

const path = "/settings/account";

/** The account: its name and address, how its holder signs in, and how they close it. */
export function accountPage(needs: Needs): Page {
  const { db, signIn } = needs;
  return consolePage(needs, {
    path,
    scriptBytesMax: 4_096,
    notices: {
      renamed: "The handle is changed. The old address still leads to you.",
      removed: "It cannot be used to sign in any more.",
      "passkey-added": "The passkey is added: it signs you in from now on.",
      "passkey-renamed": "The passkey has its new name here. Your password manager keeps its own.",
      "passkey-removed":
        "The passkey cannot be used to sign in any more. Your password manager still lists it: remove it there, too.",
      ended: "Signed out there.",
      "others-ended": "Signed out everywhere else.",
    },
    show: (visit, refusal) => shown(needs, visit, refusal),
    acts: {
      rename: async ({ account }, form) => {
        const handle = form.get("handle") ?? "";
        if (handle.trim().toLowerCase() === account.handle) throw unchanged("handle", "is your handle already");
        await renameAccount(db, account, handle);
        return done(path, "renamed");
      },
      "remove-way": async ({ viewer }, form) => {
        const { publicUrl } = needs.config;
        const { kind } = await removeWayIn({ db, ways: signIn.ways, publicUrl }, viewer.session, form.get("id") ?? "");
        return done(path, kind === "passkey" ? "passkey-removed" : "removed");
      },
      "change-email": async ({ viewer, request }, form) => {
        const { email } = parse(emailRequest, { email: form.get("email") ?? "" }, "invalid_value");
        const { publicUrl } = needs.config;
        const asked = { given: email, asker: signIn.links.askerOf(request, email) };
        const link = await askForEmail({ db, signIn, publicUrl }, viewer.session, asked);
        return { title: "Account", body: <LinkSent email={email} link={link} /> };
      },
      "rename-way": async ({ viewer }, form) => {
        await renamePasskey(db, viewer.session, form.get("id") ?? "", form.get("name") ?? "");
        return done(path, "passkey-renamed");
      },
      "end-session": async ({ viewer }, form) => {
        await endSession(db, viewer.session, form.get("id") ?? "");
        return done(path, "ended");
      },
      "end-others": async ({ viewer }) => {
        await endOtherSessions(db, viewer.session);
        return done(path, "others-ended");
      },
    },
  });
}

async function shown(
  { db, signIn, config }: Needs,
  { account, viewer }: AccountVisit,
  refusal: Refusal | undefined,
): Promise<ConsoleView> {
  const [ways, fresh, operator, sessions, closing] = await Promise.all([
    listWaysIn(db, signIn.ways, viewer.session),
    isFresh(db, viewer.session),
    readOperator(db, viewer.session),
    listSessions(db, viewer.session),
    readClosing(db, account),
  ]);
  const { host } = new URL(config.publicUrl);
  const takesAddress = fresh && ways.some(({ kind, works }) => kind === "email" && works);
  return {
    title: "Account",
    islands: signIn.ways.passkey && fresh ? ["add-passkey.js"] : [],
    lede: "Who you are here, how you get in, and how you leave.",
    body: (
      <>
        <RefusedNote refusal={refusal} fields={takesAddress ? ["handle", "email"] : ["handle"]} />
        <HandleCard handle={account.handle} host={host} liveAgents={closing.live_agents} refusal={refusal} />
        <WaysIn
          ways={ways}
          provider={signIn.ways.oidc}
          takesPasskeys={signIn.ways.passkey}
          isFresh={fresh}
          isOperator={operator !== undefined}
          refusal={refusal}
        />
        <SessionList sessions={sessions} />
        <div class="cols cols-2 cols-even">
          <DataCard />
          <CloseCard closing={closing} />
        </div>
      </>
    ),
  };
}
