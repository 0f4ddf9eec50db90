/** @jsxRuntime automatic @jsxImportSource preact */

import { Stats } from "../../../../shared/page/stats.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { creditWorth } from "../../../answers/amounts.ts";
import { listKeys } from "../../../api-keys/list.ts";
import type { Config } from "../../../config.ts";
import { asksNothing, readAlerts, setAlerts } from "../../../credits/alerts.ts";
import { credits } from "../../../credits/amount.ts";
import { transferBody } from "../../../credits/endpoints.ts";
import { type CreditsStanding, readStanding } from "../../../credits/standing.ts";
import { readAccountStatement } from "../../../credits/statement-totals.ts";
import { moveEarningsOnce } from "../../../credits/transfer.ts";
import { newId } from "../../../ids.ts";
import { readSetAside } from "../../../models/set-aside.ts";
import { parse } from "../../../parse.ts";
import type { SignIn } from "../../../sign-in/sign-in.ts";
import { demoWalletPath } from "../../demo-wallet.ts";
import { creditsOf, usdcOf } from "../../money.tsx";
import type { Page } from "../../page.ts";
import { offerWalletConnect } from "../../wallet-connect.tsx";
import { type AccountVisit, type ConsoleView, consolePage, done } from "../console-page.tsx";
import { type Refusal, wholeNumber } from "../refusal.ts";
import { AlertsCard, alertChangesOf } from "./alerts-card.tsx";
import { statementAsked } from "./asked.ts";
import { BuyCredits } from "./buy-credits.tsx";
import { MoveEarned } from "./move-earned.tsx";
import { StatementSection } from "./statement-section.tsx";

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "platformWallets" | "demoWalletScript" | "walletConnect">;
  readonly signIn: Pick<SignIn, "mailer">;
}

const path = "/settings/credits";

/** The account's balance, buying more, moving earned credits, and every movement. */
export function creditsPage(needs: Needs): Page {
  const { db } = needs;
  return consolePage(needs, {
    path,
    scriptBytesMax: 30_000,
    notices: {
      moved: "The credits are in your balance.",
      "moved-before": "This form had moved its credits already; it moved no more now.",
      alerts: "Your alerts are kept.",
      quiet: "You get no alerts.",
    },
    show: (visit, refusal) => view(needs, visit, refusal),
    acts: {
      move: async ({ account }, form) => {
        const asked = parse(transferBody, { credits: wholeNumber(form, "credits") }, "invalid_value");
        // The form carries it, so that a second post of it moves nothing.
        const reference = /^mov_[0-9a-z]{26}$/.exec(form.get("reference") ?? "")?.[0] ?? newId("mov");
        const moved = await moveEarningsOnce(db, account.id, credits(BigInt(asked.credits)), reference);
        return done(path, moved ? "moved" : "moved-before");
      },
      alerts: async ({ account }, form) => {
        const needsMail = { db, sendsMail: needs.signIn.mailer !== undefined };
        const kept = await setAlerts(needsMail, account.id, alertChangesOf(form));
        return done(path, asksNothing(kept) ? "quiet" : "alerts");
      },
    },
  });
}

async function view({ db, config, signIn }: Needs, visit: AccountVisit, refusal?: Refusal): Promise<ConsoleView> {
  const { account, has } = visit;
  const asked = statementAsked(visit.request.method === "GET" ? visit.query : new URLSearchParams());
  const [standing, setAside, alerts, keys, statement] = await Promise.all([
    readStanding(db, account.id),
    readSetAside(db, account.id),
    readAlerts({ db, sendsMail: signIn.mailer !== undefined }, account.id),
    listKeys(db, account.id),
    readAccountStatement(db, account.id, asked.query),
  ]);
  const networks = config.platformWallets.map(({ network }) => network);
  const outside = offerWalletConnect(config, networks);
  return {
    title: "Credits",
    lede: `${creditWorth}. Credits buy runs here; they are not paid out again.`,
    islands: ["credits.js"],
    widening: outside.widening,
    body: (
      <>
        <Standing standing={standing} setAside={setAside} />
        <BuyCredits accountId={account.id} networks={networks} />
        <div class="cols cols-2 cols-even">
          <MoveEarned earned={standing.earned_credits} hasWallets={has("/settings/wallets")} refusal={refusal} />
          <AlertsCard alerts={alerts} refusal={refusal} />
        </div>
        <StatementSection
          statement={statement}
          asked={asked}
          keys={keys.map(({ id, name }) => ({ id, name }))}
          linksRuns={has("/runs/{run_id}") || has("/runs/{id}")}
        />
        {outside.dialog}
        {config.demoWalletScript && <script src={demoWalletPath} defer />}
      </>
    ),
  };
}

function Standing({ standing, setAside }: { standing: CreditsStanding; setAside: number }) {
  const { credits: balance, held_credits: held, earned_credits: earned, running, spent_today: spent } = standing;
  const number = (value: number) => value.toLocaleString("en-US");
  return (
    <Stats
      stats={[
        {
          name: "Balance",
          value: <span id="balance-now">{number(balance)}</span>,
          unit: "credits",
          note: <span id="balance-usd">{`= ${usdcOf(balance).replace("USDC", "USD")}`}</span>,
        },
        {
          name: "Held",
          value: number(held),
          unit: "credits",
          note: heldNote(running, setAside),
        },
        {
          name: "Earned",
          value: number(earned),
          unit: "credits",
          note: earned === 0 ? "your agents’ sales for credits" : "from your agents, not spendable yet",
        },
        {
          name: "Spent today",
          value: number(spent),
          unit: "credits",
          note: `${runsOf(standing.runs_today)} since 00:00 UTC`,
        },
      ]}
    />
  );
}

function heldNote(running: number, setAside: number): string {
  const runs = running === 0 ? "no run is going on" : `${runsOf(running)} going on; freed if they fail`;
  if (setAside === 0) return runs;
  return `${runs}; ${creditsOf(setAside)} more set aside for your agents’ models, back minutes after their last call`;
}

const runsOf = (runs: number) => creditsOf(runs).replace("credit", "run");
