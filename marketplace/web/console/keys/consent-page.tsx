/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../../shared/errors.ts";
import { Button } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { KeyValues } from "../../../../shared/page/table.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import type { Config } from "../../../config.ts";
import { allow, refuse } from "../../../oauth/grants.ts";
import { type AccessRequest, readRequest } from "../../../oauth/requests.ts";
import { svgProducts } from "../../../svg/products.ts";
import type { Page } from "../../page.ts";
import { type AccountVisit, type ConsoleView, consolePage } from "../console-page.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { KeyFields, keyFields, keyOfForm, type ShownSettings } from "./key-fields.tsx";

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
}

/** Asks whether a client may run agents for the person, which, how often and for how much. */
export function consentPage(needs: Needs): Page {
  return consolePage(needs, {
    path: "/consent/{id}",
    scriptBytesMax: 4_096,
    show: async (visit, refusal) => viewOf(visit, await requestOf(needs, visit), refusal),
    acts: {
      allow: async (visit, form) => {
        const request = await requestOf(needs, visit);
        const settings = keyOfForm(form);
        if (settings.maxCreditsPerDay === undefined) throw withoutCap();
        return { redirect: await allow(needs, request, { ...settings, accountId: visit.account.id }) };
      },
      refuse: async (visit) => ({ redirect: await refuse(needs, await requestOf(needs, visit)) }),
    },
  });
}

async function requestOf({ db }: Needs, { params }: AccountVisit): Promise<AccessRequest> {
  const request = await readRequest(db, params.id ?? "");
  if (request) return request;
  throw new ApiError("not_found", "This was answered already, or waited too long. Begin again in the client.");
}

const withoutCap = () =>
  new ApiError("invalid_value", '"max_credits_per_day" must be set for a client.', {
    body: { field: "max_credits_per_day" },
  });

/** What a client may, unless the person says otherwise: little. */
const usual: Omit<ShownSettings, "name"> = {
  scope: "own_agents",
  agents: [],
  tools: "all",
  rate_limit_per_minute: 30,
  max_credits_per_day: 200n,
  max_credits_per_month: null,
};

function viewOf({ account, path }: AccountVisit, request: AccessRequest, refusal: Refusal | undefined): ConsoleView {
  const { clientName, clientId, redirectUri } = request;
  const { protocol, origin } = new URL(redirectUri);
  return {
    title: `“${clientName}” wants to run agents as you`,
    lede: (
      <>
        Signed in as <b>{account.handle}</b>.
      </>
    ),
    // The form leads to the client, by a redirect.
    widening: { form: [origin === "null" ? protocol : origin] },
    body: (
      <div class="stack stack-6 measure">
        <Callout tone="warn" title="We do not know this client">
          It named itself, and nobody checked it. After you allow it, your browser goes to{" "}
          <Destination address={redirectUri} />. Go on only if you started this there.
        </Callout>
        <form class="stack stack-6 key-form" method="post" action={path}>
          <RefusedNote refusal={refusal} fields={keyFields} />
          <KeyFields isForClient listed={{ ...usual, name: clientName }} refusal={refusal} />
          <ul class="stack stack-2 small">
            <li>
              Whichever agents you choose, it can also draw within the caps: svg_generate costs{" "}
              {String(svgProducts["svg-generate"].price)} credits, in HD {String(svgProducts["svg-generate-hd"].price)},
              and svg_vectorize {String(svgProducts["svg-vectorize"].price)}.
            </li>
            <li>What you allowed this client before ends, and this stands in its place, for 180 days at most.</li>
            <li>It cannot make keys, buy credits, or change agents and settings.</li>
            <li>It cannot see your wallets or your mail address.</li>
            <li>You see each of its calls under API keys, and can revoke it there at once.</li>
          </ul>
          <div class="row row-3">
            {/* The first is what Enter in a field presses. */}
            <Button name="act" value="refuse" formnovalidate>
              Refuse
            </Button>
            <Button look="primary" name="act" value="allow">
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
    ),
  };
}

/** A host is shown where it stands for somebody: behind https. In a scheme of a program's own it is whatever the program wrote. */
function Destination({ address }: { address: string }) {
  const { protocol, host } = new URL(address);
  if (protocol === "https:") return <code class="icode">{host}</code>;
  return (
    <>
      a program on this device (<code class="icode">{protocol === "http:" ? host : protocol}</code>)
    </>
  );
}
