/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Disclosure } from "../../../../shared/page/disclosure.tsx";
import { AreaField } from "../../../../shared/page/field.tsx";
import { Table } from "../../../../shared/page/table.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { OwnVersion } from "../../../drafts/agent-history.ts";
import { creditsOf } from "../../money.tsx";
import { ActField } from "../act-field.tsx";
import { DiffLines } from "./diff-lines.tsx";
import { changesIn, type Editor } from "./editor-state.ts";

/** How the draft differs from what buyers get now, or from the version that was asked for. */
export function DiffCard({ editor: { compared } }: { editor: Editor }) {
  return (
    <section class="card" aria-labelledby="diff-title" id="build-diff">
      <div class="card-head">
        <h2 id="diff-title">{titleOf(compared)}</h2>
        {compared && <Changes lines={compared.lines} />}
      </div>
      <div class="card-body">
        {compared ? (
          <DiffLines label="Difference between the draft and that version" lines={compared.lines} />
        ) : (
          <p class="small faint">Nothing is published yet: all of it is new.</p>
        )}
      </div>
    </section>
  );
}

function titleOf(compared: Editor["compared"]): string {
  if (!compared) return "Changes";
  return compared.isLive ? "Changes against what is live" : `Changes against version ${compared.version}`;
}

function Changes({ lines }: { lines: NonNullable<Editor["compared"]>["lines"] }) {
  const { added, removed } = changesIn(lines);
  return (
    <span class="small faint push num">
      <span class="vh">Lines: </span>
      {`+${added} −${removed}`}
    </span>
  );
}

export function VersionsCard({ editor: { draft, versions } }: { editor: Editor }) {
  if (versions.length === 0) return null;
  const here = `/build/${draft.slug}`;
  return (
    <section class="card" aria-labelledby="versions-title" id="versions">
      <div class="card-head">
        <h2 id="versions-title">Versions</h2>
        <span class="small faint">Going back changes the draft, not what is live.</span>
      </div>
      <Table<OwnVersion>
        label="Table of versions"
        columns={[
          {
            head: "Version",
            cell: ({ version, is_live, published_at, created_at, price_credits }) => (
              <>
                <span class="num">{version}</span> {is_live && <Badge tone="ok">live</Badge>}
                {!published_at && <Badge line>not published</Badge>}
                <span class="cell-2 only-s">
                  <Time at={created_at} />, {creditsOf(price_credits)}
                </span>
              </>
            ),
          },
          { head: "Made", hide: "small", cell: ({ created_at }) => <Time at={created_at} show="moment" /> },
          { head: "Price", isNumber: true, hide: "small", cell: ({ price_credits }) => creditsOf(price_credits) },
          {
            head: <span class="vh">Do</span>,
            isNumber: true,
            cell: ({ version }) => (
              <form class="row row-tight build-version" method="post" action={here}>
                <Hidden revision={draft.revision} act="restore" />
                <input type="hidden" name="version" value={version} />
                <ButtonLink
                  look="ghost"
                  size="small"
                  href={`${here}?against=${version}#build-diff`}
                  aria-label={`Compare with version ${version}`}
                >
                  Compare
                </ButtonLink>
                <Button size="small" aria-label={`Go back to version ${version}`}>
                  Go back
                </Button>
              </form>
            ),
          },
        ]}
        rows={versions}
      />
    </section>
  );
}

/** The definition as a file that the command line reads, to download and to upload. */
export function YamlCard({ editor: { draft, yaml, refusedYaml } }: { editor: Editor }) {
  return (
    <section class="card" aria-labelledby="yaml-title" id="yaml">
      <div class="card-head">
        <h2 id="yaml-title">As YAML</h2>
        <span class="small faint">
          <code>npm run agents</code> reads the same.
        </span>
        <a class="link small push" href={`/api/account/agent-drafts/${draft.slug}/yaml`} download>
          Download
        </a>
      </div>
      <div class="card-body">
        <Disclosure summary="Show and edit" open={refusedYaml !== undefined}>
          <form class="stack stack-3" method="post" action={`/build/${draft.slug}`} autocomplete="off">
            <Hidden revision={draft.revision} act="yaml" />
            <AreaField
              id="yaml-text"
              name="yaml"
              label="Definition"
              mono
              rows={16}
              value={refusedYaml?.text ?? yaml}
              error={refusedYaml?.problem}
              spellcheck={false}
              help="Secrets are not in it, and stay as they are."
            />
            <div class="row">
              <Button>Take this as the draft</Button>
            </div>
          </form>
        </Disclosure>
      </div>
    </section>
  );
}

/** Unpublishes the agent, and goes back to an earlier version. */
export function EndCard({ editor: { draft, owner } }: { editor: Editor }) {
  const isLive = draft.agent?.state === "live";
  if (!isLive && !draft.savedAt) return null;
  return (
    <section class="card" aria-labelledby="end-title">
      <div class="card-head">
        <h2 id="end-title">{isLive ? "Take it off the market" : "Throw away"}</h2>
      </div>
      <div class="card-body stack">
        {isLive && (
          <Disclosure summary="Unpublish">
            <form class="stack stack-2" method="post" action={`/build/${draft.slug}`}>
              <Hidden revision={draft.revision} act="unpublish" />
              <p class="small dim">
                {`${owner.handle}/${draft.slug} answers 404 from then on. Payments that were settled for it stay owed. It can be published again.`}
              </p>
              <div class="row">
                <Button look="danger">Unpublish</Button>
              </div>
            </form>
          </Disclosure>
        )}
        {draft.savedAt && (
          <Disclosure summary={draft.agent ? "Throw the changes away" : "Throw the draft away"}>
            <form class="stack stack-2" method="post" action={`/build/${draft.slug}`}>
              <Hidden revision={draft.revision} act="discard" />
              <p class="small dim">
                {draft.agent ? "The editor shows the newest version again. " : ""}What is written here cannot be had
                back.
              </p>
              <div class="row">
                <Button look="danger">Throw away</Button>
              </div>
            </form>
          </Disclosure>
        )}
      </div>
    </section>
  );
}

/** What each form of the editor says beside its own fields. */
export function Hidden({ revision, act }: { revision: string; act: string }) {
  return (
    <>
      <ActField value={act} />
      <input type="hidden" name="revision" value={revision} data-revision="" />
    </>
  );
}
