/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { TextField } from "../../../../shared/page/field.tsx";
import { Rail, type Stop } from "../../../../shared/page/rail.tsx";
import type { ListedWallet } from "../../../accounts/account-wallets.ts";
import { NetworkMark, networkName } from "../../agent/networks.tsx";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { SignText } from "./sign-text.tsx";
import { shortOf } from "./wallet-list.tsx";

/** Add, sign, check, in use: the step that is next. */
export function AddWallet({ networks, chosen, proposed, replaced, refusal }: AddProps) {
  if (networks.length === 0) {
    return (
      <Card id="add" title="Add a wallet">
        <p class="dim small">This service reads no network on which a wallet could be paid. Ask its operator.</p>
      </Card>
    );
  }
  return (
    <Card id="add" title="Add a wallet" aside={<span class="small faint">takes a minute, costs nothing</span>}>
      <Rail stops={stopsOf(proposed)} />
      <div class="cols cols-5-7">
        <AddressForm
          networks={networks}
          chosen={proposed?.network ?? chosen}
          address={proposed?.address}
          refusal={refusal?.act === "add" ? refusal : undefined}
        />
        {proposed ? (
          <SignText wallet={proposed} refusal={refusal?.act === "prove" ? refusal : undefined} />
        ) : (
          <div class="stack stack-2">
            <h3>Then prove that it is yours</h3>
            <p class="small dim">
              The wallet signs a text, which moves nothing. The network is asked whether the account can receive USDC.
              Only then it is named to buyers.
            </p>
            {replaced && (
              <p class="small dim">
                It will replace <span class="mono">{replaced.address}</span> on {networkName(replaced.network)}, which
                goes on being paid until then.
              </p>
            )}
          </div>
        )}
      </div>
    </Card>
  );
}

interface AddProps {
  readonly networks: readonly string[];
  /** The network that is asked for. */
  readonly chosen: string | undefined;
  /** The wallet that has to sign next. */
  readonly proposed: ListedWallet | undefined;
  readonly replaced: ListedWallet | undefined;
  readonly refusal: Refusal | undefined;
}

function stopsOf(proposed: ListedWallet | undefined): Stop[] {
  const address = proposed && shortOf(proposed.address);
  return [
    { name: "Add", state: proposed ? "done" : "now", say: proposed ? address : "network and account" },
    { name: "Sign", state: proposed ? "now" : "ahead", say: "a text, no transaction" },
    { name: "Check", state: "ahead", say: "can it receive USDC?" },
    {
      name: "In use",
      state: "ahead",
      say: proposed ? `your agents offer ${networkName(proposed.network)}` : "your agents offer it",
    },
  ];
}

function AddressForm({ networks, chosen, address, refusal }: AddressProps) {
  const network = refusal?.value("network") ?? chosen ?? networks[0];
  return (
    <form class="stack" method="post" action="/settings/wallets#add" id="wallet-add">
      <ActField value="add" />
      <RefusedNote refusal={refusal} fields={["address"]} />
      <fieldset>
        <legend class="label">Network</legend>
        <div class="seg">
          {networks.map((id) => (
            <label>
              <input type="radio" name="network" value={id} checked={id === network} required />
              <NetworkMark network={id} />
              {networkName(id)}
            </label>
          ))}
        </div>
      </fieldset>
      <TextField
        id="address"
        name="address"
        label="Account"
        mono
        required
        maxLength={64}
        spellcheck={false}
        autocomplete="off"
        placeholder="0x… or 0.0.1234"
        value={refusal?.value("address") ?? address}
        help="Yours, not an exchange’s: an exchange cannot sign."
        error={refusal?.at("address")}
      />
      <div class="row" id="take-from" hidden />
      <p class="small" id="take-said" role="status" />
      <Button look={address ? undefined : "primary"}>{address ? "Get another text" : "Get the text to sign"}</Button>
    </form>
  );
}

interface AddressProps {
  readonly networks: readonly string[];
  readonly chosen: string | undefined;
  readonly address: string | undefined;
  readonly refusal: Refusal | undefined;
}
