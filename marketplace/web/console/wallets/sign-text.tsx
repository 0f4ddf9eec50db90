/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Code } from "../../../../shared/page/code.tsx";
import { TextField } from "../../../../shared/page/field.tsx";
import type { ListedWallet } from "../../../accounts/account-wallets.ts";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";

/** The text that the wallet signs: in this browser, which an island does, or elsewhere. */
export function SignText({ wallet, refusal }: { wallet: ListedWallet; refusal: Refusal | undefined }) {
  const { id, network, address, challenge } = wallet;
  if (!challenge || new Date(challenge.expires_at) < new Date()) {
    return (
      <div class="stack stack-3">
        <h3>Prove that it is yours</h3>
        <Callout tone="warn" title="The text to sign is too old">
          Ask for another one; the account is filled in already.
        </Callout>
      </div>
    );
  }
  const until = `${challenge.expires_at.slice(11, 16)} UTC`;
  return (
    <form
      class="stack stack-3"
      method="post"
      action={`/settings/wallets?sign=${id}#add`}
      id="wallet-sign"
      data-network={network}
      data-address={address}
    >
      <ActField value="prove" />
      <input type="hidden" name="id" value={id} />
      <h3>Prove that it is yours</h3>
      <RefusedNote refusal={refusal} fields={["signature"]} />
      <div class="row" id="sign-with" hidden />
      <p class="small" id="sign-said" role="status" />
      <p class="small dim">
        Sign this text with the wallet, here or elsewhere{network.startsWith("hedera:") && " by its “sign message”"},
        and paste the signature. It is good until {until} and for nothing else.
      </p>
      <Code id="sign-text" title="Text to sign" wrap>
        {challenge.message}
      </Code>
      <TextField
        id="signature"
        name="signature"
        label="Signature"
        mono
        required
        maxLength={8_192}
        spellcheck={false}
        autocomplete="off"
        placeholder="0x… or base64"
        value={refusal?.value("signature")}
        error={refusal?.at("signature")}
      />
      <div class="row">
        <Button look="primary">Check signature</Button>
      </div>
    </form>
  );
}
