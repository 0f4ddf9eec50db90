/** @jsxRuntime automatic @jsxImportSource preact */
import { Hash } from "../../../shared/page/copy.tsx";
import { Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { explorerOf, networkName } from "../agent/networks.tsx";
import type { SettledCall } from "./figures.ts";
import { usdc } from "./usdc.ts";

/** Calls that were settled, each with its transaction. */
export function SettledTable({ label, calls }: { label: string; calls: readonly SettledCall[] }) {
  return (
    <Table
      label={label}
      rows={calls}
      columns={[
        { head: "When", cell: ({ at }) => <Time at={at} show="moment" /> },
        { head: "USDC", isNumber: true, cell: ({ atomic }) => usdc(atomic) },
        { head: "Network", hide: "small", cell: ({ network }) => networkName(network) },
        {
          head: "Transaction",
          cell: ({ network, transaction }) => (
            <Hash short value={transaction} label="Copy transaction" href={explorerOf(network, transaction)} />
          ),
        },
      ]}
    />
  );
}
