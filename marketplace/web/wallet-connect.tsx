/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { networkOf } from "../../shared/networks.ts";
import { Button } from "../../shared/page/button.tsx";
import { Dialog } from "../../shared/page/dialog.tsx";
import type { Widening } from "../../shared/page/policy.ts";
import { siteName } from "./brand.tsx";
import type { WalletConnectConfig } from "./wallet-connect-config.ts";

interface Configured {
  readonly walletConnect: WalletConnectConfig | undefined;
}

/** How a page offers Hedera wallets that are not in the browser, and what its policy must let through for that. */
export interface OfferedWalletConnect {
  readonly widening: Widening | undefined;
  /** Read and shown by the islands; it stands outside of forms. */
  readonly dialog: ComponentChildren;
}

/** Nothing where the operator has no project at the relay, and on a page that asks for nothing on Hedera. */
export function offerWalletConnect(
  { walletConnect }: Configured,
  networksOfPage: readonly string[],
): OfferedWalletConnect {
  const networks = networksOfPage.filter((network) => network.startsWith("hedera:"));
  if (!walletConnect || networks.length === 0) return { widening: undefined, dialog: undefined };
  return {
    widening: { connect: [new URL(walletConnect.relayUrl).origin] },
    dialog: <WalletConnectDialog {...walletConnect} networks={networks} />,
  };
}

/** A code to scan, and what becomes of it; an island writes the texts. */
function WalletConnectDialog({ projectId, relayUrl, networks }: WalletConnectConfig & { networks: readonly string[] }) {
  return (
    <div
      id="walletconnect"
      data-project={projectId}
      data-relay={relayUrl}
      data-networks={networks.join(" ")}
      data-network-names={networks.map((id) => networkOf(id)?.name ?? id).join(",")}
      data-site={siteName}
    >
      <Dialog
        id="walletconnect-dialog"
        title={<span id="walletconnect-title">Connect a Hedera wallet</span>}
        actions={
          <>
            <Button type="button" data-close="">
              Cancel
            </Button>
            <Button type="button" look="primary" id="walletconnect-again" hidden>
              Try again
            </Button>
          </>
        }
      >
        <p class="small dim" id="walletconnect-said" role="status" />
        <div class="qr" id="walletconnect-code" role="img" aria-label="Code for the wallet to scan" hidden />
        <div class="row">
          <a class="btn btn-primary" id="walletconnect-open" href="wc:" rel="noreferrer" hidden>
            Open the wallet
          </a>
          <Button type="button" id="walletconnect-copy" hidden>
            Copy link
          </Button>
        </div>
      </Dialog>
    </div>
  );
}
