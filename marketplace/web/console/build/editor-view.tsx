/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Glyph } from "../../../../shared/page/icon.tsx";
import { momentOf } from "../../../../shared/page/time.tsx";
import { maxTimeoutSeconds } from "../../../time-limits.ts";
import { connectorIcon } from "../../agent/connector-icon.ts";
import { signInPath } from "../../layout.tsx";
import { AddressCard, canMove } from "./address-card.tsx";
import { ChecksCard } from "./checks-card.tsx";
import { DiffLines } from "./diff-lines.tsx";
import { changesIn, type Editor } from "./editor-state.ts";
import { FieldsCard } from "./fields-card.tsx";
import { DiffCard, EndCard, Hidden, VersionsCard, YamlCard } from "./history-cards.tsx";
import { ListingCard } from "./listing-card.tsx";
import { BuyersCard, PreviewCard, TriedCard } from "./preview-card.tsx";
import { RecipeCard } from "./recipe-card.tsx";

/** The workspace of one agent. One form holds all of it; its buttons say what they do by `do`. */
export function EditorView({ editor }: { editor: Editor }) {
  const { draft } = editor;
  return (
    <>
      <form
        class="build"
        id="build"
        method="post"
        action={`/build/${draft.slug}`}
        noValidate
        // A browser that comes back would write its own older text over what is saved, under the newest state's name.
        autocomplete="off"
        data-saved={draft.revision}
        data-wait-ms={String(maxTimeoutSeconds * 1_000)}
      >
        <Hidden revision={draft.revision} act="edit" />
        <input type="hidden" name="connector" value={draft.definition.connector} />
        {/* Enter in a field presses the first button of a form. */}
        <button type="submit" name="do" value="save" class="vh" tabIndex={-1} aria-hidden="true">
          Save
        </button>
        <EditorHead editor={editor} />
        <div class="wrap page stack stack-6">
          <Suspended editor={editor} />
          <Notes editor={editor} />
          <NotesOfSaving editor={editor} />
          <div class="cols cols-7-5">
            <div class="stack stack-6">
              <ListingCard editor={editor} />
              <FieldsCard editor={editor} />
              <RecipeCard editor={editor} />
              <DiffCard editor={editor} />
            </div>
            <div class="stack stack-6">
              {!editor.isGone && <ChecksCard editor={editor} />}
              <PreviewCard editor={editor} />
              <TriedCard editor={editor} />
              <BuyersCard editor={editor} />
            </div>
          </div>
        </div>
      </form>
      {!editor.isGone && (
        <div class="wrap page stack stack-6 build-more">
          <div class="cols cols-7-5">
            <div class="stack stack-6">
              <VersionsCard editor={editor} />
              <YamlCard editor={editor} />
            </div>
            <div class="stack stack-6">
              <AddressCard editor={editor} />
              <EndCard editor={editor} />
            </div>
          </div>
        </div>
      )}
    </>
  );
}

function EditorHead({ editor }: { editor: Editor }) {
  const { draft, owner, checked, isGone } = editor;
  const address = `${owner.handle}/${draft.slug}`;
  const isLive = draft.agent?.state === "live";
  // Nothing waits to be published, so nothing asks for it.
  const isAsPublished = isLive && !draft.savedAt;
  return (
    <div class="subbar" id="build-head">
      <div class="wrap">
        <Glyph icon={connectorIcon(draft.definition.connector)} />
        <div class="grow">
          <h1>{draft.definition.name || "No name yet"}</h1>
          <p class="row row-3 small faint">
            <span class="mono">{address}</span>
            {canMove(draft) && !isGone && (
              <a class="link" href="#address">
                Change<span class="vh"> the address</span>
              </a>
            )}
            <State editor={editor} />
          </p>
        </div>
        <span class="small faint" id="build-saved" role="status">
          {isGone ? "Not saved" : draft.savedAt ? `Saved ${momentOf(draft.savedAt).split(", ")[1]}` : "As published"}
        </span>
        <Button name="do" value="save" data-save="">
          Save
        </Button>
        {isLive && (
          <ButtonLink icon="eye" href={`/${address}`}>
            View live
          </ButtonLink>
        )}
        <Button
          look={isAsPublished ? undefined : "primary"}
          name="do"
          value="publish"
          disabled={checked.problems.length > 0}
        >
          {isLive ? "Publish changes" : "Publish"}
        </Button>
      </div>
    </div>
  );
}

const tones = { live: "ok", suspended: "bad", draft: undefined, unpublished: undefined } as const;

function State({ editor: { draft, compared } }: { editor: Editor }) {
  const state = draft.agent?.state ?? "draft";
  const { added, removed } = changesIn(compared?.lines ?? []);
  const changes = Math.max(added, removed);
  return (
    <>
      <Badge tone={tones[state]} dot={state === "live" || state === "suspended"} line={!tones[state]}>
        {state}
      </Badge>
      {state === "live" && compared?.isLive && changes > 0 && (
        <Badge line>{`${changes} ${changes === 1 ? "line" : "lines"} not published`}</Badge>
      )}
    </>
  );
}

/** An agent that its creator cannot put back on the market. */
function Suspended({ editor: { draft, suspendedFor } }: { editor: Editor }) {
  if (draft.agent?.state !== "suspended") return null;
  return (
    <Callout tone="bad" title="The operator took this agent off the market">
      {suspendedFor && `The reason: ${suspendedFor} `}Buyers get 404. Only the operator can restore it.
    </Callout>
  );
}

/** Refusals, and changes in another tab. */
function Notes({ editor: { conflict, problem, draft } }: { editor: Editor }) {
  return (
    <div id="build-notes" class="stack" data-conflict={conflict ? "" : undefined}>
      {problem && <Callout tone="bad" role="alert" title={problem} />}
      {conflict && (
        <Callout
          tone="warn"
          role="alert"
          title="This draft was changed in another tab or on another device. Nothing of yours is lost."
        >
          <div class="stack stack-3">
            <p>What stands here is yours and not saved. From what is saved to yours:</p>
            <DiffLines label="From what is saved to what is here" lines={conflict.lines} />
            <input type="hidden" name="over" value={conflict.revision} />
            <div class="row">
              <Button name="do" value="over">
                Save mine over it
              </Button>
              <Button name="do" value="copy">
                Keep mine as a draft of its own
              </Button>
              <ButtonLink look="ghost" href={`/build/${draft.slug}`}>
                Take what is saved
              </ButtonLink>
            </div>
          </div>
        </Callout>
      )}
    </div>
  );
}

/** What the page's script shows where a save was answered by no editor, or by that of a draft that is gone. */
function NotesOfSaving({ editor: { draft, owner, isGone } }: { editor: Editor }) {
  return (
    <>
      <div id="build-signed-out" hidden>
        <Callout tone="warn" role="alert" title="You are signed out, or signed in as another account.">
          <div class="stack stack-3">
            <p>{`What stands here is saved when you come back to this page signed in as ${owner.handle}.`}</p>
            <div class="row">
              <ButtonLink href={signInPath(`/build/${draft.slug}`)} target="_blank">
                Sign in in another tab
              </ButtonLink>
            </div>
          </div>
        </Callout>
      </div>
      <div id="build-gone" hidden={!isGone}>
        <Callout
          tone="warn"
          role="alert"
          title="This draft was moved or discarded in another tab or on another device."
        >
          <div class="stack stack-3">
            <p>What stands here is still yours, and not saved.</p>
            <div class="row">
              <Button name="do" value="copy">
                Keep it as a draft of its own
              </Button>
              <ButtonLink look="ghost" href="/build">
                See what is there
              </ButtonLink>
            </div>
          </div>
        </Callout>
      </div>
    </>
  );
}
