/** @jsxRuntime automatic @jsxImportSource preact */
import { Callout } from "../../../../shared/page/callout.tsx";
import { agentsPerAccount } from "../../../agents/creator-agents.ts";
import type { ConnectorId } from "../../../connectors/connector.ts";
import { type ConnectorKind, connectorKinds } from "../../../connectors/guide.ts";
import { keepYaml } from "../../../drafts/draft-yaml.ts";
import { listTemplates, type StartNeeds, startDraft, templateChains } from "../../../drafts/start-draft.ts";
import type { Page } from "../../page.ts";
import { type AccountVisit, consolePage } from "../console-page.tsx";
import { definitionFormBytesMax, FromYaml, refusedYamlIn } from "./from-yaml.tsx";
import { OwnAgents } from "./own-agents.tsx";
import { readOwnWork } from "./own-work.ts";
import { TemplateGallery } from "./template-gallery.tsx";

/** A creator's agents and drafts, and the connectors to begin another on. */
export function galleryPage(needs: StartNeeds): Page {
  return consolePage(needs, {
    path: "/build",
    scriptBytesMax: 4_096,
    formBytesMax: definitionFormBytesMax,
    notices: { discarded: "The draft is thrown away." },
    show: async (visit, refusal) => {
      const { db, tools } = needs;
      const work = await readOwnWork(db, visit.account.id, fromIn(visit));
      const templates = listTemplates(templateChains(tools));
      return {
        title: "Build",
        frame: "bare",
        islands: ["typed.js"],
        body: (
          <div class="wrap page stack stack-10">
            <div class="stack">
              <GalleryHead />
              <FromYaml handle={visit.account.handle} refused={refusedYamlIn(refusal)} />
            </div>
            {refusal?.act === "start" && <Callout tone="bad" role="alert" title={refusal.sentence} />}
            {/* A creator without agents begins with a template at once. */}
            {work.total > 0 && <OwnAgents work={work} agentsMax={agentsPerAccount} has={visit.has} />}
            <TemplateGallery templates={templates} kind={kindIn(visit)} />
            <Callout title="What a ledger connector needs">
              It acts with a wallet of yours, within the caps that you set. A run is paid before it starts, since what
              it does cannot be undone.
            </Callout>
          </div>
        ),
      };
    },
    acts: {
      start: async ({ account }, form) => ({
        redirect: `/build/${await startDraft(needs, account, form.get("connector") as ConnectorId)}`,
      }),
      yaml: async ({ account }, form) => ({
        redirect: `/build/${await keepYaml(needs, account, (form.get("yaml") ?? "").replaceAll("\r\n", "\n"))}`,
      }),
    },
  });
}

function GalleryHead() {
  return (
    <div>
      <h1>Build</h1>
      <p class="dim small">
        Pick a connector, change the template, publish. About ten minutes, free until a buyer pays.
      </p>
    </div>
  );
}

function kindIn({ query }: AccountVisit): ConnectorKind | undefined {
  const kind = query.get("kind") ?? "";
  return Object.hasOwn(connectorKinds, kind) ? (kind as ConnectorKind) : undefined;
}

function fromIn({ query }: AccountVisit): number {
  const from = Number(query.get("from") ?? 0);
  return Number.isSafeInteger(from) && from > 0 && from < 10_000 ? from : 0;
}
