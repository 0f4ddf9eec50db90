/** @jsxRuntime automatic @jsxImportSource preact */
import { Icon } from "../../../../shared/page/icon.tsx";
import type { Check } from "../../../drafts/checks.ts";
import { anchorOf } from "./anchors.ts";
import type { Editor } from "./editor-state.ts";
import { priceOf } from "./shown-draft.ts";

const icons = { ok: "ok", bad: "alert", warn: "warning", wait: "not-tried" } as const;
const states = { ok: "holds", bad: "must be put right", warn: "to know", wait: "open" } as const;

/** What must hold before the draft is published; each line leads to the control that corrects it. */
export function ChecksCard({ editor: { checked, draft } }: { editor: Editor }) {
  const { checks } = checked;
  const held = checks.filter(({ state }) => state === "ok").length;
  return (
    <section class="card" aria-labelledby="checks-title" id="build-checks">
      <div class="card-head">
        <h2 id="checks-title">Checks</h2>
        <span class="small faint push num">{`${held} of ${checks.length} hold`}</span>
      </div>
      <div class="card-body">
        <ul class="checks">
          {checks.map((check) => (
            <li class={`is-${check.state}`}>
              <Icon name={icons[check.state]} />
              <span>
                <span class="vh">{`${states[check.state]}: `}</span>
                {check.text}
                {check.detail && <small>{check.detail}</small>}
              </span>
              <Remedy check={check} fields={draft.definition.fields} />
            </li>
          ))}
        </ul>
      </div>
      {priceOf(draft.definition) !== 0 && (
        <p class="card-foot">
          Calls that wallets pay reach your wallet in USDC. Credits that you earn are spent here: they are not paid out.
        </p>
      )}
    </section>
  );
}

function Remedy({ check, fields }: { check: Check; fields: Editor["draft"]["definition"]["fields"] }) {
  const link = linkOf(check, fields);
  if (!link) return null;
  return (
    <a class="link small" href={link.href}>
      {link.label}
      <span class="vh">{`: ${check.text}`}</span>
    </a>
  );
}

function linkOf({ remedy, field }: Check, fields: Editor["draft"]["definition"]["fields"]) {
  if (remedy === "wallets") return { href: "/settings/wallets", label: "Add wallet" };
  if (remedy === "try") return { href: "#build-preview", label: "Try it" };
  return field === null ? undefined : { href: `#${anchorOf(field, fields)}`, label: "Put right" };
}
