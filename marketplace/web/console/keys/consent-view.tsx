/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Glyph, Icon } from "../../../../shared/page/icon.tsx";
import { KeyValues } from "../../../../shared/page/table.tsx";
import { grantDays } from "../../../oauth/grants.ts";
import type { AccessRequest } from "../../../oauth/requests.ts";
import { svgProducts } from "../../../svg/products.ts";
import { ShownToField } from "../act-field.tsx";
import type { AccountVisit } from "../console-page.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { KeyFields, keyFields, type ShownSettings } from "./key-fields.tsx";

/** What a client may, unless the person says otherwise: little. */
const usual: Omit<ShownSettings, "name"> = {
  scope: "own_agents",
  agents: [],
  tools: "all",
  rate_limit_per_minute: 30,
  max_credits_per_day: 200n,
  max_credits_per_month: null,
};

/** The client that asks, where the answer goes, and what the client may and may not do. */
export function Consent({ visit: { account, path }, request, refusal }: ConsentProps) {
  const { clientName, clientId, redirectUri } = request;
  return (
    <div class="sign">
      <div class="sign-box sign-wide">
        <div class="stack stack-3">
          <div class="row row-3" aria-hidden="true">
            <Glyph icon="plug" size="large" />
            <Icon name="arrow-right" />
            <span class="avatar avatar-lg">{account.handle.slice(0, 1).toUpperCase()}</span>
          </div>
          <h1>{`“${clientName}” wants to run agents as you`}</h1>
          <p class="small dim">
            Signed in as <b class="strong">{account.handle}</b>.{" "}
            <a class="link" href="/sign-out">
              Someone else?
            </a>
          </p>
        </div>
        <Callout tone="warn" title="We do not know this client">
          It named itself, and we have not checked it. After you allow it, your browser goes to{" "}
          <Destination address={redirectUri} />. Go on only if you started this there.
        </Callout>
        <form class="card key-form" method="post" action={path}>
          <ShownToField />
          <div class="card-body stack">
            <RefusedNote refusal={refusal} fields={keyFields} />
            <KeyFields isForClient listed={{ ...usual, name: clientName }} refusal={refusal} />
            <Allowed />
          </div>
          <div class="card-foot">
            {/* The first is what Enter in a field presses. */}
            <Button size="large" class="grow" name="act" value="refuse" formnovalidate>
              Refuse
            </Button>
            <Button look="primary" size="large" class="grow" name="act" value="allow">
              Allow
            </Button>
          </div>
        </form>
        <KeyValues
          entries={[
            ["Client", clientName],
            ["Its id", <code>{clientId}</code>],
            ["Goes to", <code>{redirectUri}</code>],
            ["Asks for", "your agents as tools, until you revoke it"],
          ]}
        />
      </div>
    </div>
  );
}

interface ConsentProps {
  readonly visit: AccountVisit;
  readonly request: AccessRequest;
  readonly refusal: Refusal | undefined;
}

function Allowed() {
  const price = (product: keyof typeof svgProducts) => String(svgProducts[product].price);
  const lines = [
    [
      true,
      `Within the caps it can also draw: an SVG from words for ${price("svg-generate")} credits, in HD for ${price("svg-generate-hd")}, from a picture for ${price("svg-vectorize")}`,
    ],
    [true, "You see each of its calls under API keys, and can revoke it there at once"],
    [true, `What you allowed this client before ends; this takes its place, for ${grantDays} days at most`],
    [false, "It cannot make keys, buy credits, or change agents and settings"],
    [false, "It cannot see your wallets or your mail address"],
  ] as const;
  return (
    <ul class="checks">
      {lines.map(([may, text]) => (
        <li class={may ? "is-ok" : "is-bad"}>
          <Icon name={may ? "check" : "close"} />
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}

/** A host is shown where it names its owner: behind https. In a scheme of a program's own it is whatever the program wrote. */
function Destination({ address }: { address: string }) {
  const { protocol, host } = new URL(address);
  if (protocol === "https:") return <code class="icode">{host}</code>;
  return (
    <>
      a program on this device (<code class="icode">{protocol === "http:" ? host : protocol}</code>)
    </>
  );
}
