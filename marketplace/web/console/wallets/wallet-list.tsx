/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Hash } from "../../../../shared/page/copy.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { ListedWallet } from "../../../accounts/account-wallets.ts";
import { figuresDays } from "../../../agents/count-runs.ts";
import { NetworkMark, networkName } from "../../agent/networks.tsx";
import { ActField } from "../act-field.tsx";
import { shortUsdc } from "../figures/figures-body.tsx";
import { explanationOf, WalletBadge } from "./wallet-states.tsx";

/** The account's wallets in their states, with what can be done about each. */
export function WalletList({ wallets, agents, paid }: ListProps) {
  if (wallets.length === 0) {
    return (
      <Card id="wallets" bare>
        <Empty icon="wallet" title="No wallet yet">
          Your agents are sold for credits alone, and credits are spent here. With a wallet each call paid by wallet
          goes straight to you, in USDC.
        </Empty>
      </Card>
    );
  }
  return (
    <section class="stack" aria-labelledby="in-use">
      <div class="row between">
        <h2 id="in-use">Your wallets</h2>
        <span class="small faint">checked every six hours</span>
      </div>
      <ul class="card">
        {wallets.map((wallet) => (
          <Slot wallet={wallet} wallets={wallets} agents={agents.length} paid={paid.get(wallet.network)} />
        ))}
      </ul>
      <p class="small dim">
        <Affected agents={agents} isPaid={wallets.some(({ state }) => state === "checked")} />
      </p>
    </section>
  );
}

interface ListProps {
  readonly wallets: readonly ListedWallet[];
  readonly agents: readonly string[];
  /** What calls paid within `figuresDays`, in USDC, by network. */
  readonly paid: ReadonlyMap<string, string>;
}

function Slot({ wallet, wallets, agents, paid }: SlotProps) {
  const { id, network, address, state, reason } = wallet;
  const former = wallets.find((other) => other.network === network && other.state === "checked");
  const isWaiting = state === "unpayable" && former !== undefined;
  return (
    <li class="key-slot">
      <div class="two">
        <h3>
          <NetworkMark network={network} />
          {networkName(network)}
          <Hash short={address.length > 20} value={address} label={`Copy ${address}`} />
          <WalletBadge wallet={wallet} />
        </h3>
        <p class="key-meta">
          {state === "unchecked" ? (
            <Proposed wallet={wallet} former={former} />
          ) : (
            <Proved wallet={wallet} former={isWaiting ? former : undefined} agents={agents} paid={paid} />
          )}
        </p>
      </div>
      <div class="row row-tight push">
        {state === "unchecked" ? (
          <ButtonLink size="small" href={`/settings/wallets?sign=${id}#add`}>
            Sign
          </ButtonLink>
        ) : (
          <>
            <form method="post" action="/settings/wallets">
              <ActField value="check" />
              <input type="hidden" name="id" value={id} />
              <Button size="small">{state === "checked" ? "Check now" : "Check again"}</Button>
            </form>
            <ButtonLink size="small" look="ghost" href={`/settings/wallets?network=${encodeURIComponent(network)}#add`}>
              Replace
            </ButtonLink>
          </>
        )}
        <ButtonLink size="small" look="ghost" class="btn-danger" href={`/settings/wallets/${id}/remove`}>
          Remove
        </ButtonLink>
      </div>
      {reason !== null && state === "checked" && <Problem wallet={wallet} />}
      {state === "unpayable" && <Problem wallet={wallet} unpaidAgents={isWaiting ? 0 : agents} />}
    </li>
  );
}

interface SlotProps {
  readonly wallet: ListedWallet;
  readonly wallets: readonly ListedWallet[];
  /** How many live agents are paid per call. */
  readonly agents: number;
  readonly paid: string | undefined;
}

function Proposed({ wallet, former }: { wallet: ListedWallet; former: ListedWallet | undefined }) {
  return (
    <>
      <span>
        added <Time at={wallet.created_at} show="ago" />
      </span>
      {former && <Replaces former={former} />}
    </>
  );
}

function Proved({ wallet, former, agents, paid }: ProvedProps) {
  const { state, network, looked_at: looked, checked_at: checked, created_at: since } = wallet;
  const agentsSaid = agents === 1 ? "1 agent" : `${agents} agents`;
  return (
    <>
      {state === "checked" && <span>can receive USDC</span>}
      {looked && (
        <span>
          checked <Time at={looked} show="ago" />
        </span>
      )}
      {state === "unpayable" && checked && (
        <span>
          could be paid until <Time at={checked} show="ago" />
        </span>
      )}
      <span>
        yours since <Time at={since} />
      </span>
      {paid && !former && (
        <span>
          {shortUsdc(paid)} USDC paid to you on {networkName(network)} in {figuresDays} days
        </span>
      )}
      {former ? (
        <Replaces former={former} />
      ) : (
        agents > 0 && (
          <span>{state === "checked" ? agentsSaid : `${agentsSaid} not payable on ${networkName(network)}`}</span>
        )
      )}
    </>
  );
}

interface ProvedProps {
  readonly wallet: ListedWallet;
  /** The one that is paid until this one, which has signed, can be. */
  readonly former: ListedWallet | undefined;
  readonly agents: number;
  readonly paid: string | undefined;
}

function Replaces({ former }: { former: ListedWallet }) {
  return <span>will replace {shortOf(former.address)}, which is paid until then</span>;
}

function Problem({ wallet, unpaidAgents = 0 }: { wallet: ListedWallet; unpaidAgents?: number }) {
  const { tone, title, text } = explanationOf(wallet, wallet.reason, wallet.problem);
  const until = unpaidAgents === 0 ? "" : ` Until then buyers are not offered ${networkName(wallet.network)}.`;
  return (
    <div class="wide">
      <Callout tone={tone} title={title}>
        {text}
        {until}
      </Callout>
    </div>
  );
}

const shownMax = 10;

function Affected({ agents, isPaid }: { agents: readonly string[]; isPaid: boolean }) {
  if (agents.length === 0) return <>No live agent of yours costs anything yet, so nothing is paid here.</>;
  const more = agents.length - shownMax;
  return (
    <>
      {isPaid ? "Paid to these wallets" : "Sold for credits alone until a wallet can be paid"}:{" "}
      {agents.slice(0, shownMax).map((address, at) => (
        <>
          {at > 0 && ", "}
          <a class="link" href={`/${address}`}>
            {address}
          </a>
        </>
      ))}
      {more > 0 && ` and ${more} more`}.
    </>
  );
}

export const shortOf = (address: string) =>
  address.length > 20 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;
