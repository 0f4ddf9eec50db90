/** @jsxRuntime automatic @jsxImportSource preact */
import { figures } from "../../shared/page/figures.ts";
import { Table } from "../../shared/page/table.tsx";
import { Time } from "../../shared/page/time.tsx";
import type { Payee, Sold } from "../settlements/payees.ts";
import { Account } from "./record-table.tsx";
import { usdc } from "./words.tsx";

interface PayeeTableProps {
  readonly label: string;
  readonly payees: readonly Payee[];
  /** Keeps a link in the environment that is looked at. */
  readonly to: (path: string) => string;
}

/** Payees: their resources, how often they were paid and by how many payers. */
export function PayeeTable({ label, payees, to }: PayeeTableProps) {
  return (
    <Table
      label={label}
      rows={payees}
      columns={[
        { head: "Account", cell: ({ account }) => <Account account={account} side="payees" to={to} /> },
        { head: "Sells", hide: "small", cell: ({ sells }) => <Sells sells={sells} to={to} /> },
        { head: "Payments", isNumber: true, cell: ({ received }) => figures(received) },
        { head: "USDC", isNumber: true, cell: ({ receivedVolume }) => usdc(receivedVolume) },
        { head: "Payers", isNumber: true, hide: "small", cell: ({ payers }) => figures(payers) },
        { head: "Last paid", hide: "medium", cell: ({ lastAt }) => <Time at={lastAt} show="ago" /> },
      ]}
    />
  );
}

function Sells({ sells, to }: Pick<Payee, "sells"> & Pick<PayeeTableProps, "to">) {
  if (sells === undefined) return <span class="faint">nothing listed</span>;
  return (
    <>
      <a class="link said" href={to(`/resources/${sells.id}`)}>
        {nameOf(sells)}
      </a>
      {sells.name !== undefined && <span class="faint said"> {hostOf(sells)}</span>}
      {sells.listed > 1 && <span class="faint"> and {figures(sells.listed - 1)} more</span>}
    </>
  );
}

/** A resource without a name is called by its host. A name stays as its server gives it, whatever it looks like. */
export function nameOf(sold: Sold): string {
  return sold.name ?? hostOf(sold);
}

const hostOf = ({ resource }: Sold) => new URL(resource).host;
